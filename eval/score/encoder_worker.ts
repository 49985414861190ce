/// <reference lib="deno.worker" />
/** Runs the sentence encoder in a worker: a batch takes a tenth of a second. */
import { serveCalls } from "../../shared/service/serve_calls.ts";
import {
  joinSentenceModel,
  loadSentenceModel,
  type SentenceModel,
  type SharedModel,
} from "./embeddings/bert/sentence_model.ts";
import type { EncoderInput, EncoderOutput } from "./encoder_start.ts";

let loading: Promise<SentenceModel> | undefined; // if it fails, every call fails with it

serveCalls(async ({ texts, pairs, joins, lends }: EncoderInput): Promise<EncoderOutput> => {
  const model = await (loading ??= load(joins));
  return {
    texts: model.encode(texts),
    ...(pairs && { comparisons: model.compare(pairs) }),
    ...(lends && { lent: model.share() }),
  };
});

async function load(joined?: SharedModel): Promise<SentenceModel> {
  try {
    return joined ? joinSentenceModel(joined) : await loadSentenceModel();
  } finally {
    Deno.permissions.revokeSync({ name: "read" });
  }
}
