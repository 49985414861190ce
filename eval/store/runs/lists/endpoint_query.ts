/**
 * An endpoint without its query and fragment. Callers put secrets there, so they are neither stored
 * nor shown; only the running process knows them.
 */
export function removeQuery(endpoint: string): string {
  return endpoint.replace(/[?#][^]*$/, "");
}
