import { extendAddress } from "../../shared/http/outgoing_fetch.ts";
import { readAnswer } from "../../shared/providers/openai_answer.ts";
import { createBatcher } from "./background/batcher.ts";
import { createMemo } from "./background/memo.ts";
import type { EndpointClient } from "../ask/client.ts";
import type { Embedder } from "./scoring_ports.ts";
import { pool } from "./vectors.ts";
import { cutWindows } from "./embeddings/windows.ts";

const BATCH = 16;

/** The prefix of the method of vectors from an endpoint. */
const ENDPOINT = "endpoint_embeddings:";

/** Whether vectors of this method come from an endpoint, not from a built-in encoder. */
export function isEndpointMethod(method: string): boolean {
  return method.startsWith(ENDPOINT);
}

/** Vectors from an OpenAI-compatible `POST {baseUrl}/embeddings`. */
export function createEndpointEmbedder(
  { baseUrl, model }: { baseUrl: string; model: string },
  client: EndpointClient,
): Embedder {
  const url = extendAddress(baseUrl, "/embeddings");
  const ending = new AbortController();
  /** Of the first vectors; vectors with other dimensions could not be compared with them. */
  let dimensions: number | undefined;
  async function request(texts: string[]): Promise<Float32Array[]> {
    const { value: vectors } = await client.post({
      url,
      body: { model, input: texts, encoding_format: "float" },
      read: (response) =>
        readAnswer(
          response,
          ({ value }) => readVectors(value, { count: texts.length, dimensions }),
        ),
    }, ending.signal);
    dimensions ??= vectors[0]?.length || undefined; // 0 is an error of one text only
    return vectors;
  }
  const encode = createBatcher(request, { size: BATCH });
  return {
    method: `${ENDPOINT}${model}`,
    embed: createMemo(
      async (text) => requireDirection(pool(await Promise.all(cutWindows(text).map(encode)))),
      { sizeOf: ({ byteLength }) => byteLength },
    ),
    [Symbol.dispose]: () => ending.abort(),
  };
}

/**
 * `undefined` unless there is one vector per text, all with equally many dimensions: a partial
 * answer is an error.
 */
function readVectors(
  answer: unknown,
  { count, dimensions }: { count: number; dimensions: number | undefined },
): Float32Array[] | undefined {
  const data = (answer as { data?: { index?: number; embedding?: unknown }[] } | null)?.data;
  if (!Array.isArray(data) || data.length !== count) return undefined;
  const vectors = new Map<number, Float32Array>();
  for (const [position, { index = position, embedding }] of data.entries()) {
    if (!Array.isArray(embedding) || !embedding.every(Number.isFinite)) return undefined;
    const vector = Float32Array.from(embedding);
    const length = dimensions ??= vector.length;
    if (vector.length !== length || !vector.every(Number.isFinite)) return undefined;
    vectors.set(index, vector);
  }
  const ordered = Array.from({ length: count }, (_, index) => vectors.get(index));
  return ordered.every((vector) => vector !== undefined) ? ordered : undefined;
}

/** Throws for a zero vector, whose cosine is undefined. Fails this text only, not its batch. */
function requireDirection(vector: Float32Array): Float32Array {
  if (vector.some((value) => value !== 0)) return vector;
  throw new Error("the endpoint's vector of a text is 0 or empty");
}
