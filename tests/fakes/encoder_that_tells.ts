/// <reference lib="deno.worker" />
/** The worker of a sentence encoder, which also sends its permissions after each answer. */
import "../../eval/score/encoder_worker.ts";

const NAMES: Deno.PermissionName[] = ["read", "write", "net", "env", "run"];

const answer = self.onmessage as unknown as (event: MessageEvent) => Promise<void>;

self.onmessage = async (event) => {
  await answer(event);
  const granted = NAMES.filter((name) => Deno.permissions.querySync({ name }).state === "granted");
  self.postMessage({ granted });
};
