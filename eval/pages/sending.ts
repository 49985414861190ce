import { useSignal } from "@preact/signals";
import { ApiProblem } from "../../shared/pages/api_problem.ts";

/** A form that is sent: whether it is being sent, and why it was refused the last time. */
export function useSending() {
  const problem = useSignal<ApiProblem | undefined>(undefined);
  const isSending = useSignal(false);

  /** `work` sends; a problem that it throws is shown, any other error is thrown on. */
  async function send(work: () => Promise<void>): Promise<void> {
    const from = document.activeElement;
    isSending.value = true;
    problem.value = undefined;
    try {
      await work();
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      problem.value = error;
    } finally {
      isSending.value = false;
      setTimeout(() => returnFocus(from, { isRefused: problem.value !== undefined })); // once drawn
    }
  }

  return { problem, isSending, send };
}

/**
 * A button that is disabled while a form is sent loses the focus. It gets it back, but if a field was
 * refused, the first such field gets it. A reason that belongs to no field comes into view.
 */
function returnFocus(from: Element | null, { isRefused }: { isRefused: boolean }): void {
  const { activeElement, body } = document;
  if (activeElement !== body && activeElement !== from) return; // the person has gone elsewhere
  const form = from?.closest("form") ?? document;
  const refused = isRefused ? form.querySelector<HTMLElement>("[aria-invalid='true']") : null;
  if (refused) return refused.focus();
  if (isRefused) form.querySelector("[role='alert']")?.scrollIntoView({ block: "nearest" });
  if (from instanceof HTMLElement && from.isConnected) from.focus({ preventScroll: true });
}
