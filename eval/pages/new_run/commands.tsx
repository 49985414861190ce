import { Button } from "../../../shared/pages/components/button.tsx";
import { saveFile } from "../../../shared/pages/save_file.ts";
import { Section } from "../parts/section.tsx";
import { CodeText } from "../parts/boxes.tsx";
import { hasConversations, requestBody } from "./draft.ts";

/** The same run without this page. */
export function Commands() {
  if (!hasConversations.value) return null;
  const body = requestBody.value;
  const line = commandLine(body);
  return (
    <Section
      title="The same from a shell"
      actions={
        <span class="row">
          <Button isSmall icon="download" onClick={() => save("request.json", body)}>
            request.json
          </Button>
          {body.test_batch && (
            <Button
              isSmall
              icon="download"
              onClick={() => save("batch.json", body.test_batch)}
            >
              batch.json
            </Button>
          )}
        </span>
      }
    >
      <CodeText name="curl" copy="Copy curl" text={curlCommand(globalThis.location.origin)} />
      {line
        ? <CodeText name="command line" copy="Copy command line" text={line} />
        : (
          <p class="muted small">
            For a dataset the command line has no option for{" "}
            <code>{withoutOption(body).join(", ")}</code>.
          </p>
        )}
    </Section>
  );
}

function save(name: string, value: unknown): void {
  saveFile(name, JSON.stringify(value, null, 2), "application/json");
}

/** A text as one word of a shell, whatever it contains. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The body of a request; what else it has is not named here. */
interface CommandInput {
  /** Unset if each model has its own, or none is asked. */
  endpoint?: string | undefined;
  model_id?: string;
  /** Several of them. */
  model_ids?: string[];
  attempts?: number | undefined;
  test_name?: string | undefined;
  pass_threshold?: number | undefined;
  history?: string;
  protocol?: string;
  /** Instead of a file. */
  dataset?: string | undefined;
  test_batch?: unknown;
}

const OPTIONS: Record<keyof CommandInput, string> = {
  endpoint: "--endpoint",
  model_id: "--model",
  model_ids: "--model",
  attempts: "--attempts",
  test_name: "--name",
  pass_threshold: "--threshold",
  history: "--history",
  protocol: "--protocol",
  dataset: "--dataset",
  test_batch: "BATCH",
};

/** The fields of a request that the command line has no option for. */
export function withoutOption(body: CommandInput): string[] {
  return Object.entries(body).flatMap(([name, value]) =>
    value === undefined || Object.hasOwn(OPTIONS, name) ? [] : [name]
  );
}

/**
 * The same run from the command line, with the batch in `batch.json` unless it is a dataset. If
 * there is no option for something, the whole request is in `request.json`; with a dataset there is
 * no such file, and no command line.
 */
export function commandLine(body: CommandInput): string | undefined {
  const { model_id = "", model_ids = [model_id], attempts, dataset } = body;
  if (withoutOption(body).length > 0) return dataset ? undefined : "assay-eval run request.json";
  const option = (name: keyof CommandInput, value: string | number | undefined) =>
    value !== undefined && value !== "" && `${OPTIONS[name]} ${shellWord(String(value))}`;
  return [
    dataset ? `assay-eval run --dataset ${shellWord(dataset)}` : "assay-eval run batch.json",
    option("endpoint", body.endpoint),
    ...model_ids.map((id) => `--model ${shellWord(id)}`),
    attempts !== 1 && option("attempts", attempts),
    option("history", body.history),
    option("protocol", body.protocol),
    option("test_name", body.test_name),
    option("pass_threshold", body.pass_threshold),
  ].filter(Boolean).join(" \\\n  ");
}

/** The same run with curl, with the whole body in `request.json`. */
function curlCommand(origin: string): string {
  return [
    `curl ${shellWord(`${origin}/evaluate`)}`,
    "-H 'content-type: application/json'",
    "-H 'prefer: respond-async'",
    "-d @request.json",
  ].join(" \\\n  ");
}
