import { useRef } from "preact/hooks";
import { IconButton } from "../../shared/pages/components/button.tsx";
import { showToast } from "../../shared/pages/components/toast.tsx";
import type { Attachment, Turn } from "./conversation/conversation.ts";

/** What models take as they are. Texts become part of the message. */
const MEDIA = /^(image\/(png|jpeg|gif|webp)|application\/pdf)$/;
const LARGEST_MEDIA = 5_000_000;
const LARGEST_TEXT = 200_000;

/** Reads files that were chosen, pasted or dropped; says of each that cannot be sent why. */
export async function readFiles(
  files: Iterable<File>,
): Promise<{ attachments: Attachment[]; text: string }> {
  const attachments: Attachment[] = [];
  const texts: string[] = [];
  for (const file of files) {
    const isMedia = MEDIA.test(file.type);
    if (file.size > (isMedia ? LARGEST_MEDIA : LARGEST_TEXT)) {
      showToast(`${file.name} is too large: at most 5 MB, or 200 KB of text.`);
    } else if (isMedia) attachments.push({ name: file.name, url: await toDataUrl(file) });
    else {
      const text = decode(await file.arrayBuffer());
      if (text === undefined) showToast(`${file.name} is neither a text, an image nor a PDF file.`);
      else texts.push(`${file.name}:\n\`\`\`\n${text.trimEnd()}\n\`\`\`\n`);
    }
  }
  return { attachments, text: texts.join("\n") };
}

function decode(bytes: ArrayBuffer): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

function toDataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

/** A message as the service takes it: a text, or parts if something is attached. */
export function contentOf({ text, attachments = [] }: Pick<Turn, "text" | "attachments">) {
  if (attachments.length === 0) return text;
  return [
    { type: "text", text },
    ...attachments.map(({ name, url }) =>
      isImage(url)
        ? { type: "image_url", image_url: { url } }
        : { type: "file", file: { filename: name, file_data: url } }
    ),
  ];
}

export const isImage = (url: string) => url.startsWith("data:image/");

/** A button that opens files. */
export function AttachButton({ onFiles }: { onFiles: (files: File[]) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <IconButton
        icon="plus"
        label="Attach images or files"
        title="Attach images or files, if the model takes them"
        onClick={() => input.current?.click()}
      />
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to attach"
        onChange={({ currentTarget }) => {
          onFiles([...currentTarget.files ?? []]);
          currentTarget.value = "";
        }}
      />
    </>
  );
}

/** What is attached to a message; with `onRemove`, before it is sent. */
export function Attachments({ of, onRemove }: {
  of: Attachment[] | undefined;
  onRemove?: (attachment: Attachment) => void;
}) {
  if (!of || of.length === 0) return null;
  return (
    <ul class="attachments" aria-label="Attached">
      {of.map((attachment, index) => (
        <li key={index}>
          {isImage(attachment.url)
            ? <img src={attachment.url} alt={attachment.name} />
            : <bdi class="badge">{attachment.name}</bdi>}
          {onRemove && (
            <IconButton
              isSmall
              icon="close"
              label={`Remove ${attachment.name}`}
              onClick={() => onRemove(attachment)}
            />
          )}
        </li>
      ))}
    </ul>
  );
}
