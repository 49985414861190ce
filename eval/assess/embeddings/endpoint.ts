import { extendAddress } from "../../../shared/http/fetch/address.ts";
import { readAnswer } from "../../../shared/providers/answer.ts";
import { createBatcher } from "../background/batcher.ts";
import { createMemo } from "../background/memo.ts";
import type { EndpointClient } from "../../endpoint/client.ts";
import { type Embedder, pool } from "./embedder.ts";
import { cutWindows } from "./windows.ts";

const BATCH = 16;

/** Begins the method of vectors that an endpoint makes. */
const ENDPOINT = "endpoint_embeddings:";

/** Whether vectors of this method come from an endpoint, and not from an encoder inside. */
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
  /** Of the first vectors: others could not be compared with them. */
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
    dimensions ??= vectors[0]?.length || undefined; // an empty one says nothing of the others
    return vectors;
  }
  const encode = createBatcher(request, { size: BATCH });
  return {
    method: `${ENDPOINT}${model}`,
    isEnglishOnly: false,
    embed: createMemo(
      async (text) => requireDirection(pool(await Promise.all(cutWindows(text).map(encode)))),
      { sizeOf: ({ byteLength }) => byteLength },
    ),
    [Symbol.dispose]: () => ending.abort(),
  };
}

/**
 * `undefined` unless there is one vector per text, and all have as many dimensions: a partial answer
 * is a wrong answer.
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

/** The cosine with a vector of length 0 is not defined. Fails the one text, and not its batch. */
function requireDirection(vector: Float32Array): Float32Array {
  if (vector.some((value) => value !== 0)) return vector;
  throw new Error("the endpoint's vector of a text is 0 or empty");
}
