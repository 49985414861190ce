/** How many texts of which length in words are timed. */
export const LENGTHS: [count: number, words: number][] = [[256, 18], [64, 80]];

/** Writes texts for the sentence encoder, no two alike. */
export async function createTexts(): Promise<(i: number, length: number) => string> {
  const readme = await Deno.readTextFile(new URL("../../README.md", import.meta.url));
  const words = readme.match(/[A-Za-z][a-z']+/g)!;
  return (i, length) => {
    const start = i * 37 % (words.length - length);
    return `${i} ${words.slice(start, start + length - 1).join(" ")}`;
  };
}
