/** What separates the cells of a table, most likely first: Excel writes `;` where `,` is decimal. */
const SEPARATORS = [",", ";", "\t"];

/** The separator of a table by the row that names its columns: the one that is most frequent there. */
export function csvSeparator(head: string): string {
  const plain = head.replace(/"[^"]*"/g, "");
  const count = (separator: string) => plain.split(separator).length;
  return SEPARATORS.toSorted((a, b) => count(b) - count(a))[0]!;
}
