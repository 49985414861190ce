import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

/** What the view is about, such as the name of a run: the browser's tab shows it first. */
export const subject = signal<string | undefined>(undefined);

/** Says what the view is about, as long as it is shown. */
export function useSubject(name: string | undefined): void {
  useEffect(() => {
    subject.value = name;
    return () => void (subject.value = undefined);
  }, [name]);
}
