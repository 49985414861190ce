// deno-lint-ignore-file no-console -- a script speaks to its terminal
/** `deno task soak:floods [part of a name]`: what one client can do to a service, and to others. */
import { brotliCompressSync, constants } from "node:zlib";
import { completion, raw, startProviderDouble } from "../fakes/provider_double.ts";
import { startProcess, startServiceProcess } from "../fakes/service_process.ts";
import { measure } from "./gaps.ts";

interface Flood {
  name: string;
  services: readonly ("agent" | "eval")[];
  run: (url: string) => Promise<void>;
  /** The path of `hostile_endpoint.ts` that is the hub; the slow hub unless named. */
  hub?: string;
  environment?: Record<string, string>;
  /** Upper bounds; of a gap, the processor time in it. */
  gapMs: number;
  growthMb: number;
  seconds?: number;
}

const BOTH = ["agent", "eval"] as const;

/** Sends `count` requests ahead on one connection, and reads all of their answers. */
async function pipeline(url: string, count: number): Promise<void> {
  const { hostname, port } = new URL(url);
  using connection = await Deno.connect({ hostname, port: Number(port) });
  const request = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
  const bytes = new TextEncoder().encode(request.repeat(count));
  const sending = (async () => {
    for (let sent = 0; sent < bytes.length;) sent += await connection.write(bytes.subarray(sent));
  })();
  const buffer = new Uint8Array(65_536);
  const decoder = new TextDecoder();
  let [answers, rest] = [0, ""];
  while (answers < count) {
    const length = await connection.read(buffer);
    if (length === null) throw new Error(`closed after ${answers} answers`);
    const parts = (rest + decoder.decode(buffer.subarray(0, length))).split("HTTP/1.1 200");
    rest = parts.pop()!.slice(-11);
    answers += parts.length;
  }
  await sending;
}

const PACKED_CALLS = 8;
const PACKED = new Uint8Array(
  brotliCompressSync(new Uint8Array(400 * 1024 * 1024), {
    params: { [constants.BROTLI_PARAM_QUALITY]: 1 },
  }),
);

/** Evaluates an endpoint whose answers of some hundred bytes unpack to 400 MB. */
async function askForPacked(url: string): Promise<void> {
  await using endpoint = await startProviderDouble(
    raw(PACKED, { headers: { "content-encoding": "br" } }),
  );
  const response = await fetch(`${url}/evaluate`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      test_batch: { id: "s", interactions: [{ id: "i", user_message: "Hi" }] },
      attempts: PACKED_CALLS,
      endpoint: `${endpoint.baseUrl}/chat/completions`,
      model_id: "m",
    }),
  });
  const text = await response.text();
  if (!text.includes("over 32 MB")) throw new Error(text);
}

const HUGE_REPLY = "The parcel leaves the store on the next working day. ".repeat(420_000);

/** Evaluates an endpoint whose one reply has 22 MB, against a reference. */
async function askForHuge(url: string): Promise<void> {
  await using endpoint = await startProviderDouble(completion({ content: HUGE_REPLY }));
  const response = await fetch(`${url}/evaluate`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      test_batch: {
        id: "s",
        interactions: [{ id: "i", user_message: "When?", reference_reply: "Tomorrow." }],
      },
      endpoint: `${endpoint.baseUrl}/chat/completions`,
      model_id: "m",
    }),
  });
  const text = await response.text();
  if (!text.includes("completed successfully")) throw new Error(text.slice(0, 300));
}

const STREAMS = 500;

/** Clients of the agent that read a slow stream, all at the same time. */
async function stream(url: string): Promise<void> {
  const read = async () => {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        model: "a/b",
        stream: true,
        messages: [{ role: "user", content: "Hi" }],
      }),
    });
    if (!(await response.text()).endsWith("data: [DONE]\n\n")) throw new Error("a stream was cut");
  };
  await Promise.all(Array.from({ length: STREAMS }, read));
}

const WATCHERS = 100;
const LONG_REPLY = "The parcel leaves the store on the next working day. ".repeat(40);

/** Clients that read the events of one run from its start to its result. */
async function watch(url: string): Promise<void> {
  await using endpoint = await startProviderDouble(completion({ content: LONG_REPLY }));
  const interactions = [{ id: "i", user_message: "When?", reference_reply: "Tomorrow." }];
  const response = await fetch(`${url}/evaluate`, {
    method: "POST",
    headers: { "content-type": "application/json", prefer: "respond-async" },
    body: JSON.stringify({
      test_batch: Array.from({ length: 300 }, (_, index) => ({ id: `s${index}`, interactions })),
      endpoint: `${endpoint.baseUrl}/chat/completions`,
      model_id: "m",
    }),
  });
  const { run_id } = await response.json();
  const read = async () => {
    const events = await fetch(`${url}/runs/${run_id}/events`);
    let [hasResult, rest] = [false, ""];
    for await (const piece of events.body!.pipeThrough(new TextDecoderStream())) {
      hasResult ||= (rest + piece).includes("event:result");
      rest = piece.slice(-20);
    }
    if (!hasResult) throw new Error("a watcher did not see the result");
  };
  await Promise.all(Array.from({ length: WATCHERS }, read));
}

const start = (script: string) =>
  startProcess(["run", "-A", "--no-config", new URL(script, import.meta.url).pathname], {});
const hub = await start("slow_hub.ts");
const hostile = await start("hostile_endpoint.ts");

const POSTED = { method: "POST", headers: { "content-type": "application/json" } };

/** The reply of one turn that is asked at a path of the hostile endpoint. */
async function evaluate(url: string, path: string, turn: Record<string, unknown> = {}) {
  const response = await fetch(`${url}/evaluate`, {
    ...POSTED,
    body: JSON.stringify({
      test_batch: { id: "s", interactions: [{ id: "i", user_message: "Hi", ...turn }] },
      endpoint: `${hostile.url}/${path}/chat/completions`,
      model_id: "m",
    }),
  });
  return await response.text();
}

/** Four turns, whose answers together have 12 MB in chunks of 60 bytes. */
async function askForChunks(url: string): Promise<void> {
  const texts = await Promise.all(Array.from({ length: 4 }, () => evaluate(url, "chunks")));
  if (!texts.every((text) => text.includes("completed successfully"))) throw new Error(texts[0]);
}

/** Four answers of the agent in chunks of 60 bytes. */
async function answerInChunks(url: string): Promise<void> {
  const ask = async () => {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", "x-model-id": "a/b" },
      body: JSON.stringify({ messages: [{ type: "human", content: "Hi" }] }),
    });
    const text = await response.text();
    if (!text.includes("words words")) throw new Error(text.slice(0, 300));
  };
  await Promise.all(Array.from({ length: 4 }, ask));
}

/** An answer with a million parts or choices. */
async function askForMany(url: string): Promise<void> {
  for (const path of ["parts", "choices"]) {
    const text = await evaluate(url, path);
    if (!text.includes("interactions")) throw new Error(text.slice(0, 300));
  }
}

/** A list of a million models. */
async function listMany(url: string): Promise<void> {
  const endpoint = encodeURIComponent(`${hostile.url}/models/v1`);
  await (await fetch(`${url}/models?endpoint=${endpoint}`)).text();
}

const SCHEMAS = 12;

/** A schema that is applied 2⁴⁰ times to `EXPLODING`. */
function explosive(index: number) {
  const twice = (name: string) => ({ anyOf: [1, 2].map(() => ({ $ref: `#/$defs/${name}` })) });
  const steps = Array.from({ length: 40 }, (_, step) => [`d${step}`, twice(`d${step + 1}`)]);
  const $defs = { ...Object.fromEntries(steps), d40: { required: [`field${index}`] } };
  return { properties: { a: twice("d0") }, $defs };
}
const EXPLODING = '{"a": {}}';

/** Ajv compares each item with each other one. */
const SLOW = JSON.stringify(Array.from({ length: 20_000 }, (_, index) => [index]));

/** Of one caller's checks that take long, and another's plain one. */
async function checkSchemas(url: string, content: string, schemas: unknown[]): Promise<void> {
  await using asked = await startProviderDouble(completion({ content }));
  const send = async (checks: unknown[], prefer: string) => {
    const interactions = [{ id: "i", user_message: "Hi" }];
    const response = await fetch(`${url}/evaluate`, {
      method: "POST",
      headers: { "content-type": "application/json", prefer },
      body: JSON.stringify({
        test_batch: checks.map((value, index) => ({
          id: `s${index}`,
          interactions,
          checks: [{ type: "json", value }],
        })),
        endpoint: `${asked.baseUrl}/chat/completions`,
        model_id: "m",
      }),
    });
    return await response.text();
  };
  const started = await send(schemas, "respond-async");
  if (!started.includes("run_id")) throw new Error(started.slice(0, 300));
  await asked.received(schemas.length);
  const text = await send([{ type: ["object", "array"] }], "wait=600");
  if (!text.includes("completed successfully")) throw new Error(text.slice(0, 300));
}

const FLOODS: Flood[] = [
  {
    name: "answers in small chunks",
    services: ["eval"],
    run: askForChunks,
    gapMs: 500,
    growthMb: 400,
  },
  {
    name: "answers in small chunks",
    services: ["agent"],
    run: answerInChunks,
    hub: "chunks",
    gapMs: 500,
    growthMb: 400,
  },
  { name: "a million parts", services: ["eval"], run: askForMany, gapMs: 300, growthMb: 400 },
  { name: "a million models", services: ["eval"], run: listMany, gapMs: 300, growthMb: 300 },
  {
    name: "a million models",
    services: ["agent"],
    run: async (url) => void await (await fetch(`${url}/v1/models`)).text(),
    hub: "models",
    gapMs: 300,
    growthMb: 300,
  },
  {
    name: `${SCHEMAS} schemas that explode`,
    services: ["eval"],
    run: (url) =>
      checkSchemas(url, EXPLODING, Array.from({ length: SCHEMAS }, (_, index) => explosive(index))),
    gapMs: 1_000,
    growthMb: 300,
    seconds: 10,
  },
  {
    name: "200 turns with a schema that takes long",
    services: ["eval"],
    run: (url) => checkSchemas(url, SLOW, Array(200).fill({ uniqueItems: true })),
    gapMs: 1_000,
    growthMb: 300,
    seconds: 20,
  },
  {
    // Nothing bounds the gaps at an endpoint that the operator names: see docs/limits.md.
    name: "endless early hints",
    services: ["eval"],
    run: async (url) => void await evaluate(url, "hints"),
    environment: { MODEL_TIMEOUT_MS: "10000", MODEL_RETRIES: "0" },
    gapMs: 5_000,
    growthMb: 100,
  },
  {
    name: "20,000 requests ahead on one connection",
    services: BOTH,
    run: (url) => pipeline(url, 20_000),
    gapMs: 300,
    growthMb: 20,
  },
  {
    name: "40 × 10,000 requests ahead",
    services: BOTH,
    run: async (url) =>
      void await Promise.all(Array.from({ length: 40 }, () => pipeline(url, 10_000))),
    gapMs: 300,
    growthMb: 60,
  },
  {
    name: `${PACKED_CALLS} packed answers of 400 MB`,
    services: ["eval"],
    run: askForPacked,
    gapMs: 300,
    growthMb: PACKED_CALLS * 40,
  },
  {
    name: "a reply of 22 MB with a reference",
    services: ["eval"],
    run: askForHuge,
    gapMs: 300,
    growthMb: 400,
  },
  {
    name: `${STREAMS} streaming clients`,
    services: ["agent"],
    run: stream,
    gapMs: 500,
    growthMb: 150,
  },
  { name: `${WATCHERS} watchers`, services: ["eval"], run: watch, gapMs: 500, growthMb: 300 },
];

const [only = ""] = Deno.args;
let isGood = true;
for (const flood of FLOODS) {
  const { name: what, services, run, gapMs, growthMb, seconds = Infinity } = flood;
  if (!what.includes(only)) continue;
  for (const name of services) {
    await using service = await startServiceProcess(name, {
      environment: {
        HUB_BASE_URL: flood.hub ? `${hostile.url}/${flood.hub}` : hub.url,
        ...flood.environment,
      },
    });
    const figures = await measure(service, () => run(service.url));
    const { before, peak, after } = figures.memory;
    const isWithin = figures.gapCpuMs <= gapMs && peak - before <= growthMb &&
      figures.seconds <= seconds;
    isGood &&= isWithin;
    console.log(
      `${name}, ${what}: ${isWithin ? "ok" : "over its limit"}; ${figures.seconds.toFixed(1)} s ` +
        `(CPU ${figures.cpuSeconds.toFixed(1)} s), ` +
        `largest gap ${figures.gapMs.toFixed(0)} ms, processor time in one ` +
        `${figures.gapCpuMs.toFixed(0)} ms (${gapMs}), memory ` +
        `${before.toFixed(0)} → ${peak.toFixed(0)} → ${after.toFixed(0)} MB (+ ${growthMb})`,
    );
  }
}
for (const server of [hub, hostile]) await server[Symbol.asyncDispose]();
Deno.exit(isGood ? 0 : 1);
