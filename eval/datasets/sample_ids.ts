const LONGEST_ID = 256;

/**
 * Names the scenarios of a file after the ids that it has itself, so that a run of a later version
 * of the file is compared question by question. Of several with the same id only the first gets it.
 */
export function createSampleIds(): (own: unknown, otherwise: string) => string {
  const taken = new Set<string>();
  return (own, otherwise) => {
    const id = typeof own === "string" || typeof own === "number" ? String(own).trim() : "";
    if (id === "" || id.length > LONGEST_ID || taken.has(id)) return otherwise;
    taken.add(id);
    return id;
  };
}
