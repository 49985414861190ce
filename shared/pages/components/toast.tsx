import { signal } from "@preact/signals";

interface Toast {
  id: number;
  text: string;
  action?: { label: string; run: () => void };
}

const toasts = signal<Toast[]>([]);
let lastId = 0;

/** How long a message stays: long enough to read it and to reach its button. */
const SHOWN_MS = 6_000;

/**
 * Shows a message in a corner, with a button if there is an action such as undo. Returns a function
 * that removes it.
 */
export function showToast(text: string, action?: Toast["action"]): () => void {
  const id = ++lastId;
  toasts.value = [...toasts.value.slice(-2), { id, text, ...(action && { action }) }];
  setTimeout(() => dismiss(id), SHOWN_MS);
  return () => dismiss(id);
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

/** Where the messages appear. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, action }) => (
        <div class="toast" key={id}>
          <span>{text}</span>
          {action && (
            <button
              type="button"
              onClick={() => {
                dismiss(id);
                action.run();
              }}
            >
              {action.label}
            </button>
          )}
        </div>
      ))}
    </div>
  );
}
