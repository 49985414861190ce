import type { ServiceProcess } from "./service_process.ts";

/** Asks an agent's demo model, or its hub if it has one. */
export function askDemo({ url }: ServiceProcess): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "x-model-id": "demo/assistant" },
    body: JSON.stringify({ messages: [{ type: "human", content: "Hello" }] }),
  });
}
