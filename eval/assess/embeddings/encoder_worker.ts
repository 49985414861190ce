/// <reference lib="deno.worker" />
/** Runs a sentence encoder in a worker: a batch takes a tenth of a second. */
import { serveCalls } from "../../../shared/background/serve_calls.ts";
import {
  createSentenceModel,
  joinSentenceModel,
  type SentenceModel,
  type SharedModel,
} from "./bert/sentence_model.ts";
import { buffersOf, type EncoderModel, type ModelSource } from "./bert/weight_piece.ts";
import type { EncoderInput, EncoderOutput } from "./encoder_start.ts";

const SOURCES: Record<EncoderModel, () => Promise<ModelSource>> = {
  minilm: async () => (await import("./bert/minilm.ts")).MINILM,
  "bge-zh": async () => (await import("./bert/bge_zh.ts")).BGE_ZH,
};

let loading: Promise<SentenceModel> | undefined; // if it fails, every call fails with it

serveCalls(async ({ texts, pairs, joins, lends }: EncoderInput): Promise<EncoderOutput> => {
  const name = self.name as EncoderModel;
  const model = await (loading ??= load(name, joins));
  return {
    texts: model.encode(texts, name === "minilm"),
    ...(pairs && { comparisons: model.compare(pairs) }),
    ...(lends && { lent: model.share() }),
  };
});

/** Loads the published weights in pieces, so that they are never in memory as a whole. */
async function load(name: EncoderModel, joined?: SharedModel): Promise<SentenceModel> {
  if (!Object.hasOwn(SOURCES, name)) throw new Error(`unknown sentence encoder ${name}`);
  try {
    const source = await SOURCES[name]();
    if (joined) return joinSentenceModel(source.shape, joined);
    const model = createSentenceModel(source.shape);
    for await (const piece of source.read()) {
      model.load(piece);
      // Frees the memory now: all pieces together would take 45 MB until the next collection.
      for (const buffer of buffersOf(piece)) buffer.transfer(0);
    }
    return model;
  } finally {
    Deno.permissions.revokeSync({ name: "read" });
  }
}
