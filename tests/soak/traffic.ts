import type { Fault } from "../fakes/faulty_endpoint.ts";

/** One kind of request, and what must come of it. */
export interface Kind {
  name: string;
  /** How often it comes, against the others. */
  weight: number;
  /** Throws where the answer is not the one that was to be. */
  send(services: Services): Promise<void>;
}

export interface Services {
  agent: string;
  eval: string;
  /** The endpoint that both are pointed at, which fails as it is told. */
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

async function evaluate(services: Services, messages: string[]): Promise<void> {
  const test_batch = {
    id: "s",
    interactions: messages.map((user_message, index) => ({
      id: String(index),
      user_message,
      reference_reply: "fine",
    })),
  };
  const response = await fetch(`${services.eval}/evaluate`, {
    method: "POST",
    headers: JSON_TYPE,
    body: JSON.stringify({ test_batch, endpoint: services.endpoint, model_id: "m", attempts: 2 }),
  });
  const { results } = JSON.parse(await expect(response, 200));
  for (const { interactions } of results.scenarios[0].attempts) {
    for (const { user_message, error } of interactions) {
      const isInjected = user_message.includes(":");
      if (isInjected !== Boolean(error)) {
        throw new Error(`${user_message}: ${JSON.stringify(error)}`);
      }
    }
  }
}

/** What a day brings, with faults in about a third of it. */
export const TRAFFIC: Kind[] = [
  {
    name: "chat",
    weight: 40,
    send: async ({ agent }) => void await expect(await chat(agent, "Hello"), 200),
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
    send: (services) => evaluate(services, ["one", "two"]),
  },
  {
    name: "evaluation with faults",
    weight: 6,
    send: (services) => evaluate(services, ["one", "500: x", "reset: y", "two"]),
  },
  {
    name: "health and figures",
    weight: 10,
    async send({ agent, eval: evaluation }) {
      await expect(await fetch(`${agent}/healthz`), 200);
      await expect(await fetch(`${evaluation}/metrics`), 200);
    },
  },
];
