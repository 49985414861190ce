import { loadApart } from "../../shared/lazy.ts";
import type { Scenario } from "../schemas/scenario.ts";
import type { ComparedReply } from "./agreement/agreement.ts";
import type { Embedder } from "./embeddings/embedder.ts";
import { references } from "./references.ts";
import { chooseMethod, type SimilarityMethod } from "./scores/similarity_method.ts";
import { type CharTfIdf, createCharTfIdf } from "./text/char_tfidf.ts";

/** Vectors and languages of a batch's texts, for scores and annotators. */
export interface BatchSemantics {
  /** Rejects with `NoVectors`. */
  readonly embedder: Pick<Embedder, "method" | "isEnglishOnly" | "embed">;
  /** Whether the embedder supports the text's language. */
  isEmbeddable(text: string): Promise<boolean>;
  isEnglish(text: string): Promise<boolean>;
  /** How the built-in encoders compare replies with a reference. */
  similarityMethod(reference: string): Promise<SimilarityMethod>;
  /** The vector for a method; by `embedder` if it is unset. Rejects with `NoVectors`. */
  embedFor(method: SimilarityMethod | undefined, text: string): Promise<Float32Array>;
  /** Only with the built-in encoder for English. Rejects with `NoVectors`. */
  agreementOf(pair: { reply: string; reference: string }): Promise<ComparedReply>;
  /** Encodes references ahead of the replies until `isOver`; never rejects. */
  encodeReferences(isOver: () => boolean): Promise<void>;
  /** Fitted to the batch's references only, so that no reply affects the score of another. */
  tfIdf(): Promise<CharTfIdf>;
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
  let tfIdf: Promise<CharTfIdf> | undefined;
  // Loaded at its first use: the table takes 10 MB, and only processes that score need it.
  const language = () => loadApart(() => import("./language/language.ts"));
  const isInEnglish = async (text: string) => (await language()).isEnglish(text, context);
  async function embed(own: Embedder, text: string): Promise<Float32Array> {
    try {
      return await own.embed(text);
    } catch (error) {
      throw new NoVectors(error);
    }
  }
  const embedFor: BatchSemantics["embedFor"] = (method, text) => {
    const own = method?.encoder === "cjk" ? embedder.cjk : embedder;
    return embed(own ?? embedder, text);
  };
  const similarityMethod: BatchSemantics["similarityMethod"] = async (reference) =>
    chooseMethod(reference, {
      isEnglish: await isInEnglish(reference),
      isChinese: (await language()).isChinese(reference, context),
      hasCjkEncoder: embedder.cjk !== undefined,
    });
  return {
    embedder: {
      method: embedder.method,
      isEnglishOnly: embedder.isEnglishOnly,
      embed: (text) => embed(embedder, text),
    },
    isEmbeddable: async (text) => !embedder.isEnglishOnly || await isInEnglish(text),
    isEnglish: isInEnglish,
    similarityMethod,
    embedFor,
    async agreementOf(pair) {
      try {
        return await embedder.agreementOf!(pair);
      } catch (error) {
        throw new NoVectors(error);
      }
    },
    encodeReferences: (isOver) =>
      encodeAll(references(scenarios), {
        isOver,
        encode: async (text) =>
          embedFor(embedder.cjk ? await similarityMethod(text) : undefined, text),
      }),
    tfIdf: () => tfIdf ??= createCharTfIdf(references(scenarios)),
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
