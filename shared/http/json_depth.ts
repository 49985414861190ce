import { AppError } from "../errors.ts";

/** No body that a person or a program means is nested deeper. */
const MOST_LEVELS = 200;

const QUOTE = 34;
const BACKSLASH = 92;
const OPENING = [91, 123]; // [ {
const CLOSING = [93, 125]; // ] }

/**
 * Counts how deep JSON text is nested while it comes in. `JSON.parse` takes any depth, but
 * `JSON.stringify` and the schemas recurse, and a stack that overflows there is a 500.
 */
export function createDepthGauge(): { add(text: string): void } {
  let depth = 0;
  let isInString = false;
  let isEscaped = false;
  return {
    /** Throws 400 `invalid_json` once the text is too deep. */
    add(text) {
      for (let at = 0; at < text.length; at++) {
        const code = text.charCodeAt(at);
        if (isEscaped) isEscaped = false;
        else if (isInString) {
          if (code === BACKSLASH) isEscaped = true;
          else if (code === QUOTE) isInString = false;
        } else if (code === QUOTE) isInString = true;
        else if (OPENING.includes(code) && ++depth > MOST_LEVELS) throw tooDeep();
        else if (CLOSING.includes(code)) depth--;
      }
    },
  };
}

function tooDeep(): AppError {
  return new AppError(
    400,
    "invalid_json",
    `cannot read the request body: it is nested over ${MOST_LEVELS} levels deep`,
  );
}
