import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { Button } from "../../../shared/pages/components/button.tsx";
import { Field } from "../../../shared/pages/components/field.tsx";
import { formatBytes } from "../../../shared/pages/format.ts";

const EXAMPLE = `user_message,reference_reply,intent
Hello!,"Hello, how can I help?",greeting
Where is my parcel?,Please give me the order number.,parcel`;

/** From here on, in characters, a text is kept as a file: a box of 10 MB keeps the page busy for seconds. */
const LARGE_TEXT = 1_000_000;

/** A text that was pasted, or a file. */
export type Content = string | File;

/** Test conversations in any format: pasted, dropped, or from a file. */
export function ContentField({ content, error, onChange }: {
  content: Content;
  error: string | undefined;
  onChange: (content: Content) => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  const box = useRef<HTMLTextAreaElement & HTMLInputElement>(null);
  const refused = useSignal<string | undefined>(undefined);
  /** Gives the focus to the element that replaces the focused one, once it is drawn. */
  const focusBox = () => setTimeout(() => box.current?.focus());
  function read(files: FileList | null): void {
    const [first, second] = files ?? [];
    refused.value = second && "Drop one file only.";
    if (first && !second) onChange(first);
  }
  function take(text: string): void {
    refused.value = undefined;
    const isLarge = text.length > LARGE_TEXT;
    onChange(isLarge ? new File([text], "The pasted text") : text);
    if (isLarge) focusBox();
  }
  const more = {
    ref: box,
    onDragOver: (event: DragEvent) => {
      if (event.dataTransfer?.types.includes("Files")) event.preventDefault();
    },
    onDrop: (event: DragEvent) => {
      const files = event.dataTransfer?.files;
      if (!files?.length) return; // a text that was dragged goes where it is dropped
      event.preventDefault();
      read(files);
    },
  };
  return (
    <>
      <Field
        label="Content"
        error={refused.value ?? error}
        hint="Paste it, drop a file here, or choose one: CSV, JSON, JSONL, YAML, or another tool's"
      >
        {(attributes) =>
          typeof content === "string"
            ? (
              <textarea
                {...attributes}
                {...more}
                class="input batch"
                rows={8}
                spellcheck={false}
                placeholder={EXAMPLE}
                value={content}
                onInput={({ currentTarget }) => take(currentTarget.value)}
              />
            )
            : (
              <input
                {...attributes}
                {...more}
                readOnly
                value={`${content.name}, ${formatBytes(content.size)}`}
              />
            )}
      </Field>
      <div class="row start-row">
        <Button icon="upload" onClick={() => input.current?.click()}>Choose a file</Button>
        <input
          ref={input}
          type="file"
          hidden
          aria-label="Content file"
          accept=".json,.jsonl,.ndjson,.csv,.tsv,.txt,.yaml,.yml"
          onChange={({ currentTarget }) => {
            read(currentTarget.files);
            currentTarget.value = ""; // so that the same file can be chosen again
          }}
        />
        {typeof content !== "string" && (
          <Button
            kind="quiet"
            onClick={() => {
              onChange("");
              focusBox();
            }}
          >
            Remove the file
          </Button>
        )}
        {content === "" && (
          <Button
            kind="quiet"
            onClick={() => {
              take(EXAMPLE);
              box.current?.focus(); // the button disappears
            }}
          >
            Use an example
          </Button>
        )}
      </div>
    </>
  );
}
