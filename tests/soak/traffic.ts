import type { Fault } from "../fakes/faulty_endpoint.ts";
import { CALL_TOOL } from "./endpoint.ts";
import { FIRST_LONG, REPLIES } from "./replies.ts";

/** One kind of request, and its expected answer. */
export interface Kind {
  name: string;
  /** How often it comes, compared with the others. */
  weight: number;
  /** Throws if the answer is not the expected one. `index` counts all requests of the soak. */
  send(services: Services, index: number): Promise<void>;
}

export interface Services {
  agent: string;
  eval: string;
  /** The endpoint of both services, which fails as configured. */
  endpoint: string;
}

const FAULTS: Partial<Record<Fault, number>> = {
  "500": 502,
  "reset": 502,
  "half a body": 502,
  "malformed JSON": 502,
  "an HTML page": 502,
  "another shape": 502,
};

const JSON_TYPE = { "content-type": "application/json" };

async function expect(response: Response, status: number): Promise<string> {
  const text = await response.text();
  if (response.status !== status) throw new Error(`${response.status}: ${text.slice(0, 300)}`);
  return text;
}

function chat(url: string, content: string, init: RequestInit = {}): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { ...JSON_TYPE, "x-model-id": "acme/m" },
    body: JSON.stringify({ messages: [{ type: "human", content }] }),
    ...init,
  });
}

interface Turn {
  user_message: string;
  reference_reply: string;
}

/** Faults are errors of their turns; every other turn has all its scores, and the right ones. */
async function evaluate(services: Services, turns: Turn[], attempts = 2): Promise<void> {
  const test_batch = {
    id: "s",
    interactions: turns.map((turn, index) => ({ id: String(index), ...turn })),
  };
  const response = await fetch(`${services.eval}/evaluate`, {
    method: "POST",
    headers: JSON_TYPE,
    body: JSON.stringify({ test_batch, endpoint: services.endpoint, model_id: "m", attempts }),
  });
  const { results } = JSON.parse(await expect(response, 200));
  for (const { interactions } of results.scenarios[0].attempts) {
    turns.forEach((turn, index) => check(turn, interactions[index]));
  }
}

// deno-lint-ignore no-explicit-any -- an answer as it is on the wire
function check({ user_message, reference_reply }: Turn, result: any): void {
  const { agent_reply: reply, error, missing_scores: missing, scores } = result;
  const fail = (what: unknown) => {
    throw new Error(`${user_message}: ${JSON.stringify(what)}`);
  };
  const isInjected = user_message.includes(":");
  if (isInjected !== Boolean(error)) fail({ error });
  if (isInjected) return;
  if (missing) fail({ missing });
  const isExact = reply === reference_reply;
  if (scores.exact_match !== Number(isExact)) fail({ exact_match: scores.exact_match });
  if (isExact !== scores.overall > 0.999) fail({ overall: scores.overall });
}

/** Asks for a reply; every second time the reference is the same text. */
function say(number: number, isSame: boolean): Turn {
  const reference = isSame ? REPLIES[number] : REPLIES[(number + 6) % FIRST_LONG];
  return { user_message: `say ${number}`, reference_reply: reference! };
}

const SHORT_TURNS = (index: number) => [
  say(index % FIRST_LONG, index % 2 === 0),
  say((index * 7) % FIRST_LONG, index % 2 === 1),
];

const WARM_UP_AT_ONCE = 10;

/**
 * Has every text encoded once. All of them new within the first seconds are more than two
 * processors can encode: the service would refuse runs, as it should.
 */
export async function warmUp(services: Services): Promise<void> {
  for (let first = 0; first < FIRST_LONG; first += WARM_UP_AT_ONCE) {
    const numbers = Array.from({ length: WARM_UP_AT_ONCE }, (_, place) => first + place);
    await Promise.all(numbers.map((number) => evaluate(services, [say(number, false)], 1)));
  }
}

const FAULTY_TURNS: Turn[] = [
  { user_message: "500: x", reference_reply: "fine" },
  { user_message: "reset: y", reference_reply: "fine" },
];

/** Too expensive for the usual traffic: one of this many requests. */
export const LONG_EVERY = 500;

export const LONG_TEXTS: Kind = {
  name: "evaluation of long texts",
  weight: 0,
  send: (services, index) => {
    const number = FIRST_LONG + (index / LONG_EVERY) % (REPLIES.length - FIRST_LONG);
    return evaluate(services, [say(number, true)], 1);
  },
};

/** Typical traffic, with faults in about a third of it. */
export const TRAFFIC: Kind[] = [
  {
    name: "chat",
    weight: 32,
    async send({ agent }, index) {
      const number = index % REPLIES.length;
      const { content } = JSON.parse(await expect(await chat(agent, `say ${number}`), 200));
      if (content !== REPLIES[number]) throw new Error(`say ${number}: ${content.slice(0, 300)}`);
    },
  },
  {
    // If the server has ended, the model gets an error, and the answer still comes.
    name: "chat with the tool of an MCP server",
    weight: 8,
    send: async ({ agent }) => void await expect(await chat(agent, CALL_TOOL), 200),
  },
  ...Object.entries(FAULTS).map(([fault, status]): Kind => ({
    name: `chat, ${fault}`,
    weight: 4,
    send: async ({ agent }) => void await expect(await chat(agent, `${fault}:`), status),
  })),
  {
    name: "chat, the client leaves",
    weight: 4,
    async send({ agent }) {
      const signal = AbortSignal.timeout(20);
      const left = await chat(agent, "a hang:", { signal }).catch(() => undefined);
      if (left) throw new Error("a hang was answered");
    },
  },
  {
    name: "a body that is no JSON",
    weight: 6,
    send: async ({ agent }) =>
      void await expect(await chat(agent, "", { body: '{"messages": [' }), 400),
  },
  {
    name: "evaluation",
    weight: 10,
    send: (services, index) => evaluate(services, SHORT_TURNS(index)),
  },
  {
    name: "evaluation with faults",
    weight: 6,
    send: (services, index) => evaluate(services, [...SHORT_TURNS(index), ...FAULTY_TURNS]),
  },
  {
    name: "health and figures",
    weight: 10,
    async send({ agent, eval: evaluation }) {
      await expect(await fetch(`${agent}/healthz`), 200);
      await expect(await fetch(`${evaluation}/metrics`), 200);
      const ready = await fetch(`${evaluation}/readyz`);
      // A busy machine: it must be reported within a second, not avoided.
      if (ready.status === 503 && (await ready.clone().text()).includes("no answer within")) {
        await ready.body?.cancel();
      } else {
        await expect(ready, 200);
      }
    },
  },
];
