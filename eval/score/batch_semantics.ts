import { loadApart } from "../../shared/service/waiting.ts";
import type { Scenario } from "../test/scenario.ts";
import type { Embedder } from "./scoring_ports.ts";
import { references } from "./references.ts";

/** What scores and annotators know of the meaning of a batch's texts. */
export interface BatchSemantics {
  /** Rejects with `NoVectors`. */
  readonly embedder: Pick<Embedder, "method" | "embed" | "compare">;
  isEnglish(text: string): Promise<boolean>;
  /** Encodes references ahead of the replies until `isOver`; never rejects. */
  encodeReferences(isOver: () => boolean): Promise<void>;
}

/** The embedder failed; users may read the message. */
export class NoVectors extends Error {
  override readonly name = "NoVectors";

  constructor(cause: unknown) {
    super(`no sentence vectors: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}

const CONTEXT_CHARACTERS = 4000;

/** Everything is computed at its first use, once per batch. */
export function createBatchSemantics(
  scenarios: Scenario[],
  { embedder }: { embedder: Embedder },
): BatchSemantics {
  const context = readContext(scenarios);
  async function embed(text: string): Promise<Float32Array> {
    try {
      return await embedder.embed(text);
    } catch (error) {
      throw new NoVectors(error);
    }
  }
  const { method, compare } = embedder;
  return {
    embedder: {
      method,
      embed,
      ...(compare && {
        async compare(pair) {
          try {
            return await compare(pair);
          } catch (error) {
            throw new NoVectors(error);
          }
        },
      }),
    },
    async isEnglish(text) {
      // Loaded at its first use: the table takes 10 MB, and only processes that label need it.
      const { isEnglish } = await loadApart(() => import("./language/language.ts"));
      return isEnglish(text, context);
    },
    encodeReferences: (isOver) => encodeAll(references(scenarios), { isOver, encode: embed }),
  };
}

/** The embedder's memo holds few more. */
const ENCODED_AHEAD = 2000;
/** Few, because replies wait for the references that are being encoded. */
const AT_ONCE = 4;

async function encodeAll(
  texts: Iterable<string>,
  { encode, isOver }: { encode: (text: string) => Promise<unknown>; isOver: () => boolean },
): Promise<void> {
  const different = [...new Set(texts)].slice(0, ENCODED_AHEAD);
  // Starts with one: replies that arrive while the encoder loads must not wait behind many.
  for (let at = 0, count = 1; at < different.length && !isOver(); at += count, count = AT_ONCE) {
    try {
      await Promise.all(different.slice(at, at + count).map(encode));
    } catch {
      return; // the score that needs the vector reports it
    }
  }
}

/** The first texts of the batch: enough to identify its language. */
function readContext(scenarios: Scenario[]): string {
  let context = "";
  for (const { interactions } of scenarios) {
    for (const { user_message, reference_reply } of interactions) {
      context += `${reference_reply ?? ""}\n${user_message}\n`;
      if (context.length >= CONTEXT_CHARACTERS) return context.slice(0, CONTEXT_CHARACTERS);
    }
  }
  return context;
}
