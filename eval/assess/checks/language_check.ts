import { eld } from "eld/small";
import type { CheckOf } from "../../../shared/schemas/checks.ts";
import { decide, type Decision, notMet, undecided } from "./decision.ts";

/** Loaded by a worker only: the detector's tables have megabytes. */
export function decideLanguage({ value }: CheckOf<"language">, text: string): Decision {
  const wanted = [value].flat();
  if (!/\p{L}/u.test(text)) return notMet("it has no letters");
  const found = eld.detect(text);
  if (wanted.includes(found.language)) return decide(true, "");
  return found.language === "" || !found.isReliable()
    ? undecided("the text is too short to tell its language")
    : notMet(`it is in "${found.language}"`);
}
