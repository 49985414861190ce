/**
 * An endpoint without its query and fragment. Callers put secrets there, so only the run that is
 * under way knows them: they are neither stored nor shown.
 */
export function removeQuery(endpoint: string): string {
  return endpoint.replace(/[?#][^]*$/, "");
}
