/** The sentence encoder in a thread of its own: a batch keeps it busy for a tenth of a second. */
import { serveCalls } from "../../shared/background/serve_calls.ts";
import type { Encode } from "./encoder.ts";

let encoder: Promise<Encode> | undefined;

serveCalls(async (texts: string[]): Promise<Float32Array[]> => {
  encoder ??= import("./encoder.ts").then(({ loadEncoder }) => loadEncoder());
  const encode = await encoder;
  if (texts.length === 0) return []; // only asked whether the encoder can be loaded
  const vectors = await encode(texts);
  return vectors.map((vector) => Float32Array.from(vector));
});
