import denoJson from "../deno.json" with { type: "json" };

/** A service, as its task in deno.json is called. */
export type ServiceName = "agent" | "eval";

/** Flags of a service's task that say what it may do, such as `--allow-net`. */
export function permissionFlags(service: ServiceName): string[] {
  return denoJson.tasks[service].command.match(/--(?:allow|ignore)-\S+/g) ?? [];
}

/** Flags of a service's task for V8. */
export function v8Flags(service: ServiceName): string[] {
  return denoJson.tasks[service].command.match(/--v8-flags=\S+/g) ?? [];
}

/** Flags of a service's task for what Deno calls unstable. */
export function unstableFlags(service: ServiceName): string[] {
  return denoJson.tasks[service].command.match(/--unstable-\S+/g) ?? [];
}
