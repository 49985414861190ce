/** A text's identifiers, and the text without them: their digits are no numbers. */
export interface Identifiers {
  found: Identifier[];
  rest: string;
}

/** An address, a code or a version in one form. Only those of one type are compared. */
export interface Identifier {
  type: "email" | "url" | "code" | "version" | "phone";
  value: string;
}

const LONGEST = 200;
const AROUND = /^[("'<[{“«„]+|[)"'>\]}”».,;:!?…]+$/g;
const EMAIL = /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/;
const HOST = /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/;
const ENDINGS = new Set(
  "com org net io dev app edu gov info biz example test eu de fr es ru cn jp uk us ch at it nl"
    .split(" "),
);
const VERSION = /^v?\d+(?:\.\d+){2,4}$/;
const DOTTED_DATE = /^\d{1,2}\.\d{1,2}\.\d{4}$/;
const CODE = /^#?[a-z]+[-_/]?\d[a-z0-9]*(?:[-_/][a-z0-9]+)*$|^#?\d[a-z0-9]*[a-z]\d[a-z0-9-]*$/;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;
/** 15h30, 3pm15, 2x4: more like an amount than like a code. */
const AMOUNT = /^\d+(?:h|x)\d+$/;
const PHONE =
  /\+\d[\d ().-]{5,20}\d|\(\d{3}\) ?\d{3}[ -]\d{4}|(?<![\d.,])\d{3}[ -](?:\d{3}[ -])?\d{4}(?![\d.,])/g;

/** What every identifier has. */
const HINT = /[\d@/]|\.[a-z]/i;

/** Finds e-mail addresses, URLs, versions, telephone numbers and codes such as `TK-2231`. */
export function findIdentifiers(text: string): Identifiers {
  if (!HINT.test(text)) return { found: [], rest: text };
  const found: Identifier[] = [];
  const withoutPhones = !/\d{3}|\+\d/.test(text) ? text : text.replace(PHONE, (phone) => {
    // "+49 (0)30" is "+49 30".
    found.push({ type: "phone", value: phone.replace("(0)", "").replace(/\D/g, "") });
    return " ";
  });
  const rest = withoutPhones.replace(/\S+/g, (piece) => {
    const identifier = HINT.test(piece) ? identify(piece) : undefined;
    if (!identifier) return piece;
    found.push(identifier);
    return /[.!?]$/.test(piece) ? piece.at(-1)! : " "; // a sentence still ends there
  });
  return { found, rest };
}

function identify(piece: string): Identifier | undefined {
  if (piece.length > LONGEST || piece.length < 3) return undefined;
  const plain = piece.replace(AROUND, "").toLowerCase();
  if (EMAIL.test(plain)) return { type: "email", value: plain };
  const address = addressOf(plain);
  if (address) return { type: "url", value: address };
  if (!/\d/.test(plain)) return undefined;
  if (VERSION.test(plain) && !DOTTED_DATE.test(plain)) {
    return { type: "version", value: plain.replace(/^v/, "") };
  }
  if (UUID.test(plain) || (CODE.test(plain) && !AMOUNT.test(plain))) {
    return { type: "code", value: plain.replace(/[#_/-]/g, "") };
  }
  return undefined;
}

/** Without what does not matter: `https://www.` and a slash at the end. */
function addressOf(plain: string): string | undefined {
  const bare = plain.replace(/^https?:\/\//, "").replace(/^www\./, "");
  const slash = bare.search(/[/?#]/);
  const host = slash < 0 ? bare : bare.slice(0, slash);
  const isMarked = bare.length < plain.length;
  if (!HOST.test(host) && !(isMarked && host !== "")) return undefined;
  if (!isMarked && !ENDINGS.has(host.slice(host.lastIndexOf(".") + 1))) return undefined;
  return bare.replace(/\/+$/, "");
}

/** Whether each text has an identifier of one type that the other has not. */
export function compareIdentifiers(left: Identifier[], right: Identifier[]): boolean {
  if (left.length === 0 || right.length === 0) return false;
  const others = new Set(findAlone(right, left).map(({ type }) => type));
  return findAlone(left, right).some(({ type }) => others.has(type));
}

/**
 * Those that the others do not have; a telephone number is the same with and without the code of its
 * country. By sets: a text may have thousands of them.
 */
function findAlone(some: Identifier[], others: Identifier[]): Identifier[] {
  const known = new Set(others.map(keyOf));
  const ends = new Set(others.flatMap((other) => other.type === "phone" ? endsOf(other) : []));
  return some.filter((one) => {
    if (known.has(keyOf(one))) return false;
    if (one.type !== "phone") return true;
    return !ends.has(keyOf(one)) && !endsOf(one).some((end) => known.has(end));
  });
}

function keyOf({ type, value }: Identifier): string {
  return `${type} ${value}`;
}

/** A telephone number without its first digits, each time one more. */
function endsOf({ type, value }: Identifier): string[] {
  return Array.from(value, (_, at) => keyOf({ type, value: value.slice(at) }));
}
