import { createBatcher } from "../background/batcher.ts";
import { createMemo } from "../background/memo.ts";
import type { EndpointClient } from "../../endpoint/client.ts";
import { type Embedder, pool } from "./embedder.ts";
import { cutWindows } from "./windows.ts";

const BATCH = 16;
const REMEMBERED = 2000;
/** Of a vector with 4096 dimensions. */
const VECTOR_BYTES = 16 * 1024;

/** Vectors from an OpenAI-compatible `POST {baseUrl}/embeddings`, in whatever languages it knows. */
export function createEndpointEmbedder(
  { baseUrl, model }: { baseUrl: string; model: string },
  client: EndpointClient,
): Embedder {
  const ending = new AbortController();
  const request = (texts: string[]) =>
    client.post({
      url: `${baseUrl}/embeddings`,
      body: { model, input: texts, encoding_format: "float" },
      read: (answer) => readVectors(answer, texts.length),
    }, ending.signal);
  const encode = createBatcher(request, { size: BATCH });
  return {
    method: `endpoint_embeddings:${model}`,
    isEnglishOnly: false,
    embed: createMemo(
      async (text) => pool(await Promise.all(cutWindows(text).map(encode))),
      { capacity: REMEMBERED, resultBytes: VECTOR_BYTES },
    ),
    [Symbol.dispose]: () => ending.abort(),
  };
}

/** `undefined` unless there is one vector per text: a partial answer is a wrong answer. */
function readVectors(answer: unknown, count: number): Float32Array[] | undefined {
  const data = (answer as { data?: { index?: number; embedding?: unknown }[] } | null)?.data;
  if (!Array.isArray(data) || data.length !== count) return undefined;
  const vectors = new Map<number, Float32Array>();
  for (const [position, { index = position, embedding }] of data.entries()) {
    if (!Array.isArray(embedding) || !embedding.every(Number.isFinite)) return undefined;
    vectors.set(index, Float32Array.from(embedding));
  }
  const ordered = Array.from({ length: count }, (_, index) => vectors.get(index));
  return ordered.every((vector) => vector !== undefined) ? ordered : undefined;
}
