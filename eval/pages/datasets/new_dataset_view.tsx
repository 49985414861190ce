import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { Button } from "../../../shared/pages/components/button.tsx";
import { Field, TextField } from "../../../shared/pages/components/field.tsx";
import { Link } from "../../../shared/pages/components/link.tsx";
import { Notice, ProblemNotice } from "../../../shared/pages/components/states.tsx";
import { formatBytes, formatNumberOf } from "../../../shared/pages/format.ts";
import { query } from "../../../shared/pages/location.ts";
import type { WrittenDataset } from "../../http/dataset_routes.ts";
import { putDataset } from "../api.ts";
import { createBatchDraft } from "../batch/batch_draft.ts";
import { BatchField } from "../batch/batch_field.tsx";
import { Preview } from "../batch/preview.tsx";
import { Section } from "../parts/section.tsx";
import { bound, Select } from "../parts/fields.tsx";
import { runAddress } from "./dataset_actions.tsx";
import { LARGE_BYTES, readBeginning, toUpload } from "./upload.ts";
import { useSending } from "../sending.ts";
import { asSentence } from "../words.ts";

const FORMATS: [value: string, label: string][] = [
  ["", "Detect from the file"],
  ["jsonl", "JSONL, one scenario per line"],
  ["json", "JSON"],
  ["csv", "CSV, a row per turn"],
  ["promptfoo", "promptfoo"],
  ["openai-evals", "OpenAI evals"],
  ["openai-graders", "OpenAI evals with graders"],
  ["langsmith", "LangSmith"],
];

/** Writes a dataset, or another version of one, from a file of any format. */
export function NewDatasetView() {
  const fixed = query.value.get("name");
  const name = useSignal(fixed ?? "");
  const format = useSignal("");
  const file = useSignal<File | undefined>(undefined);
  const draft = useMemo(createBatchDraft, []);
  const { problem, isSending, send } = useSending();
  const sent = useSignal({ name: "", text: "" });
  const written = useSignal<WrittenDataset | undefined>(undefined);
  const input = draft.input.value;
  const isEmpty = !file.value && input.kind === "empty";

  async function choose(chosen: File): Promise<void> {
    const isLarge = chosen.size > LARGE_BYTES;
    file.value = isLarge ? chosen : undefined;
    const text = await (isLarge ? readBeginning(chosen) : chosen.text());
    draft.setText(text, { isBeginning: isLarge });
    if (!name.value) name.value = chosen.name.replace(/\..*$/, "").replaceAll(/[^\w.-]+/g, "-");
  }

  async function save(event: Event): Promise<void> {
    event.preventDefault();
    const upload = toUpload(draft, { file: file.value, format: format.value || undefined });
    sent.value = { name: name.value, text: draft.text.value };
    await send(async () => {
      written.value = await putDataset(name.value.trim(), upload.file, upload.parameters);
    });
  }

  if (written.value) return <Written dataset={written.value} />;
  const nameError = problem.value?.errors.find(({ path }) => path === "name")?.message;
  const contentError = !nameError && !file.value && problem.value?.code === "invalid_request"
    ? asSentence(problem.value.message)
    : undefined;
  return (
    <>
      <form class="new-run" onSubmit={save} noValidate>
        <div class="page-head">
          <h2>{fixed ? `New version of ${fixed}` : "New dataset"}</h2>
        </div>
        {problem.value && !nameError && !contentError && <ProblemNotice problem={problem.value} />}
        <Section title="Test conversations">
          <div class="row">
            <TextField
              label="Name"
              {...bound(name)}
              error={name.value === sent.value.name ? nameError : undefined}
              hint="Letters, digits, dots, dashes and underscores"
              readOnly={fixed !== null}
            />
            <Field
              label="Format"
              hint="Files of other evaluation tools are read as far as possible"
            >
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
          {file.value
            ? (
              <LargeFile
                file={file.value}
                onRemove={() => {
                  file.value = undefined;
                  draft.setText("");
                }}
              />
            )
            : (
              <BatchField
                label="Content"
                text={draft.text.value}
                error={draft.text.value === sent.value.text ? contentError : undefined}
                hint="Paste it, drop a file here, or choose one"
                otherFiles=",.yaml,.yml"
                onText={draft.setText}
                onFile={choose}
              />
            )}
        </Section>
        <Preview draft={draft} />
        <div class="start">
          <Button
            kind="primary"
            type="submit"
            disabled={isSending.value || isEmpty || !name.value.trim()}
          >
            Save
          </Button>
          <span class="muted small" role="status">
            {isEmpty
              ? "Enter test conversations first."
              : !name.value.trim()
              ? "Name the dataset first."
              : input.kind === "wrong" || draft.scenarios.value.length === 0
              ? "There is no preview of this; the service says whether it can be used."
              : file.value
              ? "The preview shows the beginning of the file."
              : formatNumberOf(draft.scenarios.value.length, "scenario")}
          </span>
        </div>
      </form>
    </>
  );
}

function LargeFile({ file, onRemove }: { file: File; onRemove: () => void }) {
  return (
    <Notice icon="upload">
      <div dir="auto">{file.name}, {formatBytes(file.size)}</div>
      <div class="notice-actions">
        <Button isSmall onClick={onRemove}>Choose another</Button>
      </div>
    </Notice>
  );
}

/** What became of a file, and what of it has no counterpart here. */
function Written({ dataset }: { dataset: WrittenDataset }) {
  const { name, version, scenarios, turns, created, left_out } = dataset;
  return (
    <>
      <div class="page-head">
        <h2>{created ? "The dataset is saved" : "This version was there already"}</h2>
      </div>
      <Section
        title={name}
        hint={
          <>
            Version <code>{version.slice(0, 8)}</code>: {formatNumberOf(scenarios, "scenario")},
            {" "}
            {formatNumberOf(turns, "turn")}
          </>
        }
      >
        {left_out.length > 0 && (
          <Notice kind="warn">
            <div>Some of the file has no counterpart here and was left out:</div>
            {left_out.map(({ what, count, line }) => (
              <div key={what} dir="auto">
                {what}, {formatNumberOf(count, "time")}, first in line {line}
              </div>
            ))}
          </Notice>
        )}
        <div class="row start-row">
          <Link class="button primary" href={runAddress(name)}>New run</Link>
          <Link class="button" href={`/ui/dataset/${name}`}>Look at it</Link>
          <Link class="button" href="/ui/datasets">All datasets</Link>
        </div>
      </Section>
    </>
  );
}
