import { useSignal } from "@preact/signals";
import { ApiProblem } from "../../shared/pages/api_problem.ts";

/** A form that is sent: whether it is being sent, and why it was refused the last time. */
export function useSending() {
  const problem = useSignal<ApiProblem | undefined>(undefined);
  const isSending = useSignal(false);

  /** `work` sends; a problem that it throws is shown, any other error is thrown on. */
  async function send(work: () => Promise<void>): Promise<void> {
    isSending.value = true;
    problem.value = undefined;
    try {
      await work();
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      problem.value = error;
    } finally {
      isSending.value = false;
    }
  }

  return { problem, isSending, send };
}
