import { Button } from "../../../shared/pages/components/button.tsx";
import { saveFile } from "../../../shared/pages/save_file.ts";
import { Section } from "../parts/section.tsx";
import { CodeText } from "../parts/boxes.tsx";
import { requestBody } from "./draft.ts";

/** The same run without this page. */
export function Commands() {
  const body: Record<string, unknown> = requestBody.value;
  if (!body.dataset && !body.test_batch) return null;
  const line = commandLine(body);
  return (
    <Section
      title="The same from a shell"
      actions={
        <Button
          isSmall
          icon="download"
          onClick={() =>
            saveFile("request.json", JSON.stringify(body, null, 2), "application/json")}
        >
          request.json
        </Button>
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

/** A text as one word of a shell, whatever it contains. */
function shellWord(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** What the command line has for the fields of a request. */
const OPTIONS: Record<string, string> = {
  endpoint: "--endpoint",
  model_id: "--model",
  model_ids: "--model",
  attempts: "--attempts",
  history: "--history",
  protocol: "--protocol",
  test_name: "--name",
  pass_threshold: "--threshold",
};

/** The fields of a request that the command line has no option for. */
function withoutOption({ dataset: _, ...fields }: Record<string, unknown>): string[] {
  return Object.keys(fields).filter((name) =>
    fields[name] !== undefined && !Object.hasOwn(OPTIONS, name)
  );
}

/**
 * The same run from the command line: of a dataset by options, `undefined` if there is none for
 * something; of other conversations with the whole request in a file.
 */
export function commandLine(body: Record<string, unknown>): string | undefined {
  if (!body.dataset) return "assay-eval run request.json";
  if (withoutOption(body).length > 0) return undefined;
  const options = Object.entries(OPTIONS).flatMap(([name, option]) =>
    [body[name]].flat().filter((value) =>
      value !== undefined && value !== "" && !(name === "attempts" && value === 1)
    ).map((value) => `${option} ${shellWord(String(value))}`)
  );
  return [`assay-eval run --dataset ${shellWord(String(body.dataset))}`, ...options]
    .join(" \\\n  ");
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
