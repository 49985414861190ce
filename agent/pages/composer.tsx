import { computed, effect, signal, useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "../../shared/pages/components/button.tsx";
import { Notice } from "../../shared/pages/components/states.tsx";
import { keepChoice, readChoice } from "../../shared/pages/storage.ts";
import { focusTranscript } from "./answer_view.tsx";
import { isAnsweredElsewhere, isAnswering, sendMessage, stopAnswering } from "./answering.ts";
import { AttachButton, Attachments, readFiles } from "./attachments.tsx";
import type { Attachment } from "./conversation/conversation.ts";
import { activeModels, currentId } from "./conversation/conversation_state.ts";

/** What was typed and not sent yet, by conversation; kept through reloads. */
const draft = signal("");
const isOffline = signal(false);
/** What is sent with the next message. */
const attached = signal<Attachment[]>([]);

/** Where it is kept. Changes with the conversation, not with what arrives in it. */
const draftName = computed(() => `draft-${currentId.value ?? "new"}`);

/** Puts a text into the message box, in place of what is there. */
export function setDraft(text: string): void {
  draft.value = text;
  keepChoice(draftName.value, text);
  focusComposer();
}

export function focusComposer(): void {
  document.querySelector<HTMLTextAreaElement>(".composer textarea")?.focus();
}

/** Takes the files that were dropped or pasted; a text is put into the box by the browser. */
function takeFiles(event: Event, data: DataTransfer | null): void {
  const files = [...data?.files ?? []];
  if (files.length === 0) return;
  event.preventDefault();
  void attach(files);
}

async function attach(files: File[]): Promise<void> {
  const { attachments, text } = await readFiles(files);
  attached.value = [...attached.value, ...attachments];
  if (text) setDraft(draft.value.trim() ? `${draft.value.trimEnd()}\n\n${text}` : text);
  else focusComposer();
}

/** Code of a key that an input method takes, as Enter that ends a word in Japanese. */
const TAKEN = 229;

/** Safari ends the composition before the key that ends it, so that only the code tells. */
function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === TAKEN;
}

/** Why a message cannot be sent now, for screen readers. */
function progress(): string {
  if (isAnswering.value) return "Answering";
  return isAnsweredElsewhere.value ? "Another tab receives an answer" : "";
}

/** Where a message is written. Enter sends it, unless an answer is under way, here or in another tab. */
export function Composer() {
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => effect(() => void (draft.value = readChoice<string>(draftName.value) ?? "")), []);
  useEffect(() => {
    const look = () => void (isOffline.value = !navigator.onLine);
    look();
    globalThis.addEventListener("online", look);
    globalThis.addEventListener("offline", look);
    return () => {
      globalThis.removeEventListener("online", look);
      globalThis.removeEventListener("offline", look);
    };
  }, []);
  // Asked before the button is disabled: then the browser takes the focus from it.
  const isAtButton = document.activeElement?.matches(".composer button");
  useLayoutEffect(() => {
    if (isAtButton && !isAnswering.value) focusTranscript();
  }, [isAnswering.value]);
  useLayoutEffect(() => {
    if (isAtButton && isAnsweredElsewhere.value) box.current?.focus();
  }, [isAnsweredElsewhere.value]);
  const canSend = draft.value.trim() !== "" && !isAnswering.value && !isAnsweredElsewhere.value &&
    activeModels.value[0] !== undefined;

  const isQueued = useSignal(false);

  /** While an answer is under way, the message is sent as soon as it has ended. */
  function send(): void {
    const text = draft.value.trim();
    if (!canSend) {
      isQueued.value = text !== "" && isAnswering.value;
      return;
    }
    isQueued.value = false;
    setDraft("");
    sendMessage(text, attached.value);
    attached.value = [];
  }
  useEffect(() => {
    if (isQueued.value && !isAnswering.value) send();
  }, [isAnswering.value]);

  /** The button may become the one that sends before its click has ended: a draft is not sent. */
  function stop(event: Event): void {
    event.preventDefault();
    isQueued.value = false;
    stopAnswering();
  }

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {isOffline.value && (
        <Notice kind="warn" role="status" icon="offline">
          You are offline. What you type is kept.
        </Notice>
      )}
      <Attachments
        of={attached.value}
        onRemove={(one) => attached.value = attached.value.filter((other) => other !== one)}
      />
      <div
        class="composer-box"
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => takeFiles(event, event.dataTransfer)}
      >
        <AttachButton onFiles={attach} />
        <textarea
          ref={box}
          dir="auto"
          rows={1}
          aria-label="Message"
          placeholder="Write a message…"
          value={draft.value}
          onInput={(event) => {
            draft.value = event.currentTarget.value;
            isQueued.value = false;
            keepChoice(draftName.value, draft.value);
          }}
          onPaste={(event) => takeFiles(event, event.clipboardData)}
          onKeyDown={(event) => {
            if (event.key === "Escape" && isAnswering.value) stop(event);
            if (event.key !== "Enter" || event.shiftKey || isComposing(event)) return;
            event.preventDefault();
            send();
          }}
        />
        {isAnswering.value ? <Button icon="stop" aria-label="Stop" onClick={stop} /> : (
          <Button
            kind="primary"
            type="submit"
            icon="send"
            aria-label="Send"
            disabled={!canSend}
          />
        )}
      </div>
      <div class={isQueued.value ? "muted small" : "visually-hidden"} role="status">
        {isQueued.value ? "Will be sent when the answer has ended." : progress()}
      </div>
    </form>
  );
}
