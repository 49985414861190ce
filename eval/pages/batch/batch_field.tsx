import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { Button } from "../../../shared/pages/components/button.tsx";
import { Field } from "../../../shared/pages/components/field.tsx";
import { formatCount } from "../../../shared/pages/format.ts";

const EXAMPLE = `user_message,reference_reply,intent
Hello!,"Hello, how can I help?",greeting
Where is my parcel?,Please give me the order number.,parcel`;

/** From here on, in characters, a text is not shown: a box of 10 MB keeps the page busy for seconds. */
const LARGE_TEXT = 1_000_000;

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
  const box = useRef<HTMLTextAreaElement & HTMLInputElement>(null);
  const isLarge = text.length > LARGE_TEXT;
  const refused = useSignal<string | undefined>(undefined);
  /** Gives the focus to the element that replaces the focused one, once it is drawn. */
  const focusBox = () => setTimeout(() => box.current?.focus());
  async function read(files: FileList | null): Promise<void> {
    const [first, second] = files ?? [];
    if (!first) return;
    refused.value = second ? "Drop one file only." : await whyRefused(first);
    if (!refused.value) onFile(first);
  }
  const dropping = {
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
      <Field label={label} error={refused.value ?? error} hint={hint}>
        {(attributes) =>
          isLarge
            ? (
              <input
                {...attributes}
                {...dropping}
                ref={box}
                readOnly
                value={`A text of ${formatCount(text.length)} characters`}
              />
            )
            : (
              <textarea
                {...attributes}
                {...dropping}
                ref={box}
                class="input batch"
                rows={12}
                spellcheck={false}
                placeholder={EXAMPLE}
                value={text}
                onInput={({ currentTarget }) => {
                  refused.value = undefined;
                  onText(currentTarget.value);
                  if (currentTarget.value.length > LARGE_TEXT) focusBox();
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
            currentTarget.value = ""; // so that the same file can be chosen again
          }}
        />
        {isLarge && (
          <Button
            kind="quiet"
            onClick={() => {
              onText("");
              focusBox();
            }}
          >
            Remove the text
          </Button>
        )}
        {text === "" && (
          <Button
            kind="quiet"
            onClick={() => {
              onText(EXAMPLE);
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

/** Looked at for a byte that UTF-8 does not have. */
const LOOKED_AT_BYTES = 1_000_000;

/**
 * Why a file cannot be used; `undefined` if it can. It is UTF-8, or begins with UTF-16's mark: from
 * others, letters would get lost.
 */
async function whyRefused(file: File): Promise<string | undefined> {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = new Uint8Array(await file.slice(0, LOOKED_AT_BYTES).arrayBuffer());
  } catch {
    return `${file.name} cannot be read. It must be a file, not a folder.`;
  }
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) ||
    (bytes[0] === 0xfe && bytes[1] === 0xff);
  try {
    if (!isUtf16) new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return undefined;
  } catch {
    return `${file.name} is not a text in UTF-8; save it as CSV UTF-8 or convert it.`;
  }
}
