/// <reference lib="deno.worker" />
/** The worker of a sentence encoder, which after each answer also sends what it may still do. */
import "../../eval/assess/embeddings/encoder_worker.ts";

const NAMES: Deno.PermissionName[] = ["read", "write", "net", "env", "run"];

const answer = self.onmessage as unknown as (event: MessageEvent) => Promise<void>;

self.onmessage = async (event) => {
  await answer(event);
  const granted = NAMES.filter((name) => Deno.permissions.querySync({ name }).state === "granted");
  self.postMessage({ granted });
};
