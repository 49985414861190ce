import { createHash } from "node:crypto";
import { AppError } from "../../../shared/service/errors.ts";
import { createYielder } from "../../../shared/service/waiting.ts";
import { isFields } from "../../../shared/service/fields.ts";
import { ImportError } from "../../test/formats/format.ts";
import { readRecords } from "../../test/formats/lines.ts";

/** A text that a model is trained on. */
export interface TrainingText {
  /** The line of its row, from 1; of an array, the row's place. */
  row: number;
  text: string;
}

/** Fields that hold no text of a conversation: who says it, what a row is, which tools there are. */
const NOT_SAID = new Set(["role", "from", "type", "id", "name", "tools", "functions", "origin"]);
const SYSTEM = new Set<unknown>(["system", "developer"]);

/**
 * The texts of a file for training, in any JSONL form or a JSON array: every text of a row but
 * system messages. Throws 400 `invalid_request`, which names the line.
 */
export function readTrainingTexts(pieces: AsyncIterable<string>) {
  const hash = createHash("sha256");
  let rows = 0;

  async function* hashed() {
    for await (const piece of pieces) {
      hash.update(piece);
      yield piece;
    }
  }

  async function* texts(): AsyncGenerator<TrainingText> {
    const pause = createYielder();
    try {
      for await (const { line, value } of readRecords(hashed())) {
        const row = ++rows === 1 || line > 1 ? line : rows;
        if (!isFields(value)) {
          throw new ImportError(row, "it must be an object, such as {messages}");
        }
        for (const text of textsOf(value)) yield { row, text };
        await pause();
      }
    } catch (error) {
      if (!(error instanceof ImportError)) throw error;
      throw new AppError(400, "invalid_request", `cannot use the training file: ${error.message}`, {
        errors: [{ path: `line ${error.line}`, message: error.reason }],
      });
    }
    if (rows === 0) {
      throw new AppError(400, "invalid_request", "cannot use the training file: it has no rows");
    }
  }

  return {
    /** May be read once. */
    texts: texts(),
    /** What was read: known when all texts were. */
    described: () => ({ digest: hash.copy().digest("hex").slice(0, 32), rows }),
  };
}

function* textsOf(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (Array.isArray(value)) { for (const item of value) yield* textsOf(item); }
  else if (isFields(value)) {
    if (SYSTEM.has(value.role ?? value.from)) return;
    for (const [name, field] of Object.entries(value)) {
      if (!NOT_SAID.has(name) && !SYSTEM.has(name)) yield* textsOf(field);
    }
  }
}
