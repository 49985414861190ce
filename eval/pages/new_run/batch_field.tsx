import { useRef } from "preact/hooks";
import { Button } from "../../../shared/pages/components/button.tsx";
import { Field } from "../../../shared/pages/components/field.tsx";
import { batchInput, draft, setText } from "./draft.ts";

const EXAMPLE = `user_message,reference_reply,intent
Hello!,"Hello, how can I help?",greeting
Where is my parcel?,Please give me the order number.,parcel`;

/** The batch as text: pasted, dropped, or from a file. */
export function BatchField({ error }: { error: string | undefined }) {
  const file = useRef<HTMLInputElement>(null);
  const input = batchInput.value;
  const read = async (files: FileList | null | undefined) => {
    const [first] = files ?? [];
    if (first) setText(await first.text());
  };
  return (
    <>
      <Field
        label="Batch"
        error={error ?? (input.kind === "wrong" ? input.reason : undefined)}
        hint="Scenarios as for POST /evaluate, one per line, or a table with a column of messages"
      >
        {(attributes) => (
          <textarea
            {...attributes}
            class="input batch"
            rows={12}
            spellcheck={false}
            placeholder={EXAMPLE}
            value={draft.text.value}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
            onDragOver={(event) => event.preventDefault()}
            onDrop={(event) => {
              event.preventDefault();
              read(event.dataTransfer?.files);
            }}
          />
        )}
      </Field>
      <div class="row start-row">
        <Button icon="upload" onClick={() => file.current?.click()}>Choose a file</Button>
        <input
          ref={file}
          type="file"
          hidden
          aria-label="Batch file"
          accept=".json,.jsonl,.ndjson,.csv,.tsv,.txt"
          onChange={({ currentTarget }) => read(currentTarget.files)}
        />
        {draft.text.value === "" && (
          <Button kind="quiet" onClick={() => setText(EXAMPLE)}>Use an example</Button>
        )}
      </div>
    </>
  );
}
