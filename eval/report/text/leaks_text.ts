import { counted } from "../../../shared/service/text.ts";
import type { RunLeaks } from "../../test/leaks.ts";
import { showScore, type TextForm } from "./text_form.ts";

/** The score over scenarios that training files have, and over the others, for people. */
export function leaksText({ checks, clean, leaked }: RunLeaks, form: TextForm): string {
  return form.title("Leaks", 2) + form.lines([
    `Over ${counted(clean.scenarios, "clean scenario")}: overall ${showScore(clean.mean)}`,
    `Over ${counted(leaked.scenarios, "leaked scenario")}: overall ${showScore(leaked.mean)}`,
    ...checks.map(({ file, digest, rows, checked_at, word_for_word, near }) =>
      `Checked against ${form.name(file || digest.slice(0, 8))} (${counted(rows, "row")}) on ` +
      `${checked_at.slice(0, 10)}: ${word_for_word} word for word, ${near} near`
    ),
  ]);
}
