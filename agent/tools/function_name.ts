/** A function name that every provider accepts; `tool` if no character of `name` is usable. */
export function functionName(name: string | null | undefined): string {
  const legal = (name ?? "").trim().replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64);
  return /[a-zA-Z0-9]/.test(legal) ? legal : "tool";
}
