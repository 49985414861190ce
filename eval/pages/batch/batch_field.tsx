import { useRef } from "preact/hooks";
import { Button } from "../../../shared/pages/components/button.tsx";
import { Field } from "../../../shared/pages/components/field.tsx";

const EXAMPLE = `user_message,reference_reply,intent
Hello!,"Hello, how can I help?",greeting
Where is my parcel?,Please give me the order number.,parcel`;

/** The batch as text: pasted, dropped, or from a file. */
export function BatchField({ text, label, hint, error, otherFiles = "", onText, onFile }: {
  text: string;
  label: string;
  hint: string;
  error: string | undefined;
  /** Endings of files beside those that every form reads. */
  otherFiles?: string;
  onText: (text: string) => void;
  onFile: (file: File) => void;
}) {
  const file = useRef<HTMLInputElement>(null);
  const box = useRef<HTMLTextAreaElement>(null);
  const read = (files: FileList | null | undefined) => {
    const [first] = files ?? [];
    if (first) onFile(first);
  };
  return (
    <>
      <Field label={label} error={error} hint={hint}>
        {(attributes) => (
          <textarea
            {...attributes}
            ref={box}
            class="input batch"
            rows={12}
            spellcheck={false}
            placeholder={EXAMPLE}
            value={text}
            onInput={({ currentTarget }) => onText(currentTarget.value)}
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
          aria-label={`${label} file`}
          accept={`.json,.jsonl,.ndjson,.csv,.tsv,.txt${otherFiles}`}
          onChange={({ currentTarget }) => {
            read(currentTarget.files);
            currentTarget.value = ""; // so that the same file can be chosen again, once it is mended
          }}
        />
        {text === "" && (
          <Button
            kind="quiet"
            onClick={() => {
              onText(EXAMPLE);
              box.current?.focus(); // the button goes
            }}
          >
            Use an example
          </Button>
        )}
      </div>
    </>
  );
}
