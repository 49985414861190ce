import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Button } from "../../../shared/pages/components/button.tsx";
import { Field, TextField } from "../../../shared/pages/components/field.tsx";
import { ProblemNotice } from "../../../shared/pages/components/states.tsx";
import { formatNumberOf } from "../../../shared/pages/format.ts";
import { csvSeparator } from "../../test/datasets/csv_rules.ts";
import type { DatasetPreview, WrittenDataset } from "../../http/dataset_routes.ts";
import { previewDataset, putDataset } from "../api.ts";
import { useLoaded } from "../loaded.tsx";
import { bound, Select } from "../parts/fields.tsx";
import { useSending } from "../sending.ts";
import { asSentence } from "../words.ts";
import { type Content, ContentField } from "./content_field.tsx";
import { LeftOut } from "./left_out.tsx";
import { ScenarioRows } from "./scenario_rows.tsx";

const FORMATS: [value: string, label: string][] = [
  ["", "Detect from the file"],
  ["jsonl", "JSONL, one scenario per line"],
  ["json", "JSON or YAML"],
  ["csv", "CSV, a row per turn"],
  ["promptfoo", "promptfoo"],
  ["openai-evals", "OpenAI evals"],
  ["openai-graders", "OpenAI evals with graders"],
  ["langsmith", "LangSmith"],
];

/** What a column of a table can be, by the name of the parameter. */
const USES: [value: string, label: string][] = [
  ["", "by its name"],
  ["user_message", "user message"],
  ["reference_reply", "reference reply"],
  ["system_prompt", "system prompt"],
  ["scenario_id", "conversation"],
  ["metadata", "expected label"],
];

/** Larger files have no preview: they are sent once, when they are saved. */
const LARGE_BYTES = 4_000_000;
/** The pause in typing after which the preview is made. */
const TYPING_MS = 250;

/** Writes a dataset, or another version of one, from a text or a file of any format. */
export function DatasetForm({ name: fixed, onEdit, onWritten }: {
  /** Of the dataset that gets another version. */
  name?: string | undefined;
  /** Called when there is something to lose. */
  onEdit?: () => void;
  onWritten: (dataset: WrittenDataset) => void;
}) {
  const name = useSignal(fixed ?? "");
  const format = useSignal("");
  const content = useSignal<Content>("");
  const columns = useSignal<string[]>([]);
  const uses = useSignal<Record<string, string>>({});
  const { problem, isSending, send } = useSending();
  const sentName = useSignal("");
  const isEmpty = content.value === "";
  const parameters = {
    format: format.value || undefined,
    ...Object.fromEntries(
      Object.entries(uses.value).filter(([, use]) => use).map(([column, use]) => [
        use === "metadata" ? `column.metadata.${column}` : `column.${use}`,
        column,
      ]),
    ),
  };
  const { preview, refused } = usePreview(content.value, parameters);

  async function take(next: Content): Promise<void> {
    onEdit?.();
    content.value = next;
    const isFile = typeof next !== "string";
    if (isFile && !name.value) name.value = nameOf(next);
    const names = columnsOf(isFile ? await next.slice(0, 64_000).text() : next);
    if (content.value !== next) return;
    if (names.join() !== columns.value.join()) uses.value = {};
    columns.value = names;
  }

  async function save(event: Event): Promise<void> {
    event.preventDefault();
    event.stopPropagation();
    sentName.value = name.value;
    const file = { content: content.value, type: "application/octet-stream" };
    await send(async () => onWritten(await putDataset(name.value.trim(), file, parameters)));
  }

  const nameError = problem.value?.errors.find(({ path }) => path === "name")?.message;
  const isOfContent = refused && problem.value?.message === refused.message;
  return (
    <form class="dialog-body-form" onSubmit={save} noValidate>
      {problem.value && !nameError && !isOfContent && <ProblemNotice problem={problem.value} />}
      <div class="row">
        <TextField
          label="Name"
          {...bound(name)}
          error={name.value === sentName.value ? nameError : undefined}
          hint="Letters, digits, dots, dashes and underscores"
          readOnly={fixed !== undefined}
        />
        <Field label="Format" hint="Files of other evaluation tools are read as far as possible">
          {(attributes) => (
            <Select
              {...attributes}
              options={FORMATS}
              value={format.value}
              onChoose={(chosen) => format.value = chosen}
            />
          )}
        </Field>
      </div>
      <ContentField
        content={content.value}
        error={refused && asSentence(refused.message)}
        onChange={take}
      />
      {columns.value.length > 0 && (
        <fieldset class="stack">
          <legend class="muted small">Rows of the same conversation are its turns.</legend>
          <div class="row">
            {columns.value.map((column) => (
              <Field key={column} label={`Column ${column}`}>
                {(attributes) => (
                  <Select
                    {...attributes}
                    options={USES}
                    value={uses.value[column] ?? ""}
                    onChoose={(use) => uses.value = { ...uses.value, [column]: use }}
                  />
                )}
              </Field>
            ))}
          </div>
        </fieldset>
      )}
      {preview && <Preview of={preview} />}
      <div class="start">
        <Button
          kind="primary"
          type="submit"
          disabled={isSending.value || isEmpty || !name.value.trim()}
        >
          Save the dataset
        </Button>
        <span class="muted small" role="status">
          {isEmpty
            ? "Enter test conversations first."
            : !name.value.trim()
            ? "Name the dataset first."
            : preview
            ? `${formatNumberOf(preview.scenarios, "scenario")}, ${
              formatNumberOf(preview.turns, "turn")
            }`
            : ""}
        </span>
      </div>
    </form>
  );
}

/** What the service makes of a content, and why it refuses it. */
function usePreview(content: Content, parameters: Record<string, string | undefined>) {
  const settled = useSignal<Content>("");
  useEffect(() => {
    const timer = setTimeout(() => settled.value = content, TYPING_MS);
    return () => clearTimeout(timer);
  }, [content]);
  const isLarge = typeof settled.value !== "string" && settled.value.size > LARGE_BYTES;
  const { value, problem } = useLoaded(
    async () =>
      settled.value === "" || isLarge ? undefined : await previewDataset(settled.value, parameters),
    [settled.value === content ? keyOf(content) : "", parameters],
  );
  if (content === "" || problem) return { refused: content === "" ? undefined : problem };
  return { preview: value };
}

/** Tells contents apart. */
function keyOf(content: Content): string {
  return typeof content === "string" ? content : `${content.name} ${content.lastModified}`;
}

function Preview({ of: { scenarios, test_batch, left_out } }: { of: DatasetPreview }) {
  return (
    <section class="stack" aria-label="Preview">
      <LeftOut parts={left_out} />
      <p class="muted small">
        {scenarios > test_batch.length && "The first of "}
        {formatNumberOf(scenarios, "scenario")}
      </p>
      <ScenarioRows scenarios={test_batch} />
    </section>
  );
}

/** The dataset that a file becomes. */
function nameOf(file: File): string {
  return file.name.replace(/\..*$/, "").replaceAll(/[^\w.-]+/g, "-");
}

/** The columns of a table; none of any other text. */
function columnsOf(text: string): string[] {
  const [head = ""] = text.replace(/^\ufeff/, "").trimStart().split(/\r?\n/, 1);
  if (/^[[{<]|:\s/.test(head)) return [];
  const names = head.split(csvSeparator(head)).map((name) => name.trim().replace(/^"(.*)"$/, "$1"));
  return names.length > 1 ? [...new Set(names.filter(Boolean))] : [];
}
