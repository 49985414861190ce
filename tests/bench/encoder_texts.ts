import { BGE_ZH } from "../../eval/assess/embeddings/bert/bge_zh.ts";
import { MINILM } from "../../eval/assess/embeddings/bert/minilm.ts";
import { readEquivalentPairs } from "./similarity.ts";

/** Texts for a sentence encoder, no two alike. */
export interface EncoderTexts {
  /** What a length is counted in. */
  unit: string;
  /** How many texts of which length are timed. */
  lengths: [count: number, length: number][];
  write(i: number, length: number): string;
}

export const MODELS = [MINILM, BGE_ZH];

/** For one of the models, by its name. */
export async function createTexts(name: string): Promise<EncoderTexts> {
  if (name === BGE_ZH.name) {
    const characters = [...(await readEquivalentPairs("zh")).flat().join("")];
    return {
      unit: "character",
      lengths: [[256, 24], [64, 120]],
      write: (i, length) => cut(characters, { i, length }).join(""),
    };
  }
  const readme = await Deno.readTextFile(new URL("../../README.md", import.meta.url));
  const words = readme.match(/[A-Za-z][a-z']+/g)!;
  return {
    unit: "word",
    lengths: [[256, 18], [64, 80]],
    write: (i, length) => `${i} ${cut(words, { i, length: length - 1 }).join(" ")}`,
  };
}

/** A piece of some words or characters, another one for each `i`. */
function cut(parts: string[], { i, length }: { i: number; length: number }): string[] {
  const start = i * 37 % (parts.length - length);
  return parts.slice(start, start + length);
}
