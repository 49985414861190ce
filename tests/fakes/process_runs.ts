import { assertEquals } from "@std/assert";
import { openReader } from "../../eval/store/open_store.ts";
import type { RunReader } from "../../eval/store/store.ts";
import { completion, type ReceivedRequest, startProviderDouble } from "./provider_double.ts";
import type { ServiceProcess } from "./service_process.ts";

/** Runs of a service that is a process of its own, whose turns have names. */

/** `${scenario}.${turn}` of every turn, which is also its user message. */
export function batch(scenarios: number, turns: number) {
  return Array.from({ length: scenarios }, (_, scenario) => ({
    id: `scenario ${scenario}`,
    interactions: Array.from({ length: turns }, (_, turn) => ({
      id: `${scenario}.${turn}`,
      user_message: `${scenario}.${turn}`,
      reference_reply: `${scenario}.${turn} after ${turn} turns`,
    })),
  }));
}

/** The user's last message. */
export const lastMessage = (request: ReceivedRequest): string =>
  request.body.messages.at(-1).content;

/** Replies depend on the conversation, so that a lost or repeated history shows in them. */
export function startEndpoint(delayMs: () => number) {
  return startProviderDouble(async (request) => {
    await new Promise((resolve) => setTimeout(resolve, delayMs()));
    const turns = (request.body.messages.length - 1) / 2;
    return completion({ content: `${lastMessage(request)} after ${turns} turns` })(request);
  });
}

/** Asks for an evaluation, and waits for its answer. */
export function evaluate(service: ServiceProcess, body: unknown, init: RequestInit = {}) {
  return fetch(`${service.url}/evaluate`, {
    method: "POST",
    ...init,
    headers: { "content-type": "application/json", ...init.headers },
    body: JSON.stringify(body),
  });
}

/** Starts a run that needs no client; returns its id. */
export async function startAsync(service: ServiceProcess, body: unknown): Promise<string> {
  const response = await evaluate(service, body, { headers: { prefer: "respond-async" } });
  assertEquals(response.status, 202);
  return (await response.json()).run_id;
}

/** Waits for the run's last event and returns its name and data. */
export async function lastEvent(service: ServiceProcess, id: string) {
  const text = await (await fetch(`${service.url}/runs/${id}/events`)).text();
  const [, event, data] = /event:(result|ended)\nid:end\ndata:(.*)\n\n$/.exec(text) ?? [];
  return { event, data: JSON.parse(data ?? "null") };
}

/** The turns that are stored, as `${scenario}.${turn}`. */
export async function storedTurns(path: string, id: string): Promise<Set<string>> {
  const reader: RunReader = await openReader({ path });
  try {
    const turns = await Array.fromAsync(reader.turns(id));
    return new Set(turns.map(({ scenario, turn }) => `${scenario}.${turn}`));
  } finally {
    await reader.close();
  }
}
