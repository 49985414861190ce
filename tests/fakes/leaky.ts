/** `Deno.test` for tests that may leave a timer or a connection behind. Their file says why. */
export function test(name: string, fn: Deno.TestDefinition["fn"]): void;
export function test(definition: Deno.TestDefinition): void;
export function test(
  what: string | Deno.TestDefinition,
  fn: Deno.TestDefinition["fn"] = () => {},
): void {
  const definition = typeof what === "string" ? { name: what, fn } : what;
  Deno.test({ ...definition, sanitizeOps: false, sanitizeResources: false });
}
