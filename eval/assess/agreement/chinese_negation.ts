import type { WrongValue } from "./wrong_values.ts";

const NEGATION = /[不没未无非别勿莫否]/gu;
/** Words, set phrases and questions that contain such a character but negate nothing. */
const NO_NEGATION =
  /[^。！？]*吗[？?]|非常|非洲|未来|[特分区级性个]别|别[的人]|别担心|无论|不[管过仅但断久同错到]|不超过|不少于|不客气|没关系|没问题|没事|否则|是否|(\p{Script=Han})不\1/gu;
const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}]/u;
/** The least F1 of the other characters at which the texts differ in the negation alone. */
const SHARED = 0.8;
const LONGEST = 500;

/** Finds a negation in one of two Chinese texts that are otherwise nearly the same. */
export function findNegation(reply: string, reference: string): WrongValue[] {
  if (!/\p{Script=Han}/u.test(reference) || KANA.test(reference + reply)) return [];
  if (Math.max(reply.length, reference.length) > LONGEST) return [];
  const [own, expected] = [reply, reference].map((text) => text.replace(NO_NEGATION, "")) as [
    string,
    string,
  ];
  const [found, meant] = [own.match(NEGATION) ?? [], expected.match(NEGATION) ?? []];
  if (found.length % 2 === meant.length % 2 || shareOf(own, expected) < SHARED) return [];
  const text = found.length > meant.length
    ? `${found.join("")}, which the reference does not have`
    : `without ${meant.join("")} of the reference`;
  return [{ kind: "negation", text }];
}

/** F1 of the characters that negate nothing. */
function shareOf(own: string, expected: string): number {
  // 不能 negates 可以, and 没到 negates 到了.
  const rest = (text: string) => [
    ...text.replaceAll("可以", "能").replace(NEGATION, "").replace(/了|[^\p{L}\p{N}]/gu, ""),
  ];
  const [left, right] = [rest(own), rest(expected)];
  const open = [...right];
  let shared = 0;
  for (const character of left) {
    const at = open.indexOf(character);
    if (at < 0) continue;
    open.splice(at, 1);
    shared++;
  }
  return 2 * shared / Math.max(1, left.length + right.length);
}
