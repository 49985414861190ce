import type { CheckOf } from "../../../shared/schemas/checks.ts";
import { identifyLanguage } from "../language/identify_language.ts";
import { decide, type Decision, notMet, undecided } from "./decision.ts";

/** Loaded by a worker only: the detector's tables have megabytes. */
export function decideLanguage({ value }: CheckOf<"language">, text: string): Decision {
  const wanted = [value].flat();
  if (!/\p{L}/u.test(text)) return notMet("it has no letters");
  const { code, isReliable } = identifyLanguage(text);
  if (wanted.includes(code)) return decide(true, "");
  return isReliable
    ? notMet(`it is in "${code}"`)
    : undecided("the text is too short to tell its language");
}
