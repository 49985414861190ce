import { createContentChecks } from "../../eval/score/content_checks.ts";
import { openStore } from "../../eval/store/open_store.ts";
import { evalService, evaluateBody, evaluateRequestOf } from "../fakes/eval_service.ts";
import { scoringPorts } from "../fakes/scoring_ports.ts";
import { watchEventLoop } from "./event_loop.ts";
import { report } from "./measure.ts";

type Fields = Record<string, unknown>;

/** How long the largest bodies of checks block the event loop. */
export async function checkLimits(): Promise<void> {
  using checks = createContentChecks();
  const toolCalls = Array.from({ length: 1_000 }, (_, index) => ({
    name: "search",
    args: { q: `kettle ${index}` },
    status: "ok" as const,
    ms: 1,
  }));
  const folder = await Deno.makeTempDir();
  const store = await openStore({ path: `${folder}/eval.db` });
  const { service } = evalService(undefined, {
    store,
    scoring: scoringPorts({ checks }),
    target: { ask: () => Promise.resolve({ content: "{}", usage: null, toolCalls }) },
  });
  await (await service(evaluateRequestOf(evaluateBody({ test_batch: scenario([regexes(1)]) }))))
    .text();
  for (const [what, test_batch] of Object.entries(batches())) {
    const body = JSON.stringify(evaluateBody({ test_batch }));
    const request = sent(body, { "idempotency-key": what });
    await new Promise((resolve) => setTimeout(resolve, 200)); // what made the body is collected
    const loop = watchEventLoop();
    const answer = await service(request);
    for await (const _ of answer.body!);
    const size = `${(body.length / 1e6).toFixed(1)} MB`;
    report(`${what} (${size}, ${answer.status}): longest stretch`, loop.stop(), {
      unit: "ms",
      bound: 50,
      digits: 0,
    });
  }
  await store.close();
  await Deno.remove(folder, { recursive: true });
}

/** The request as it arrives over a socket: piece by piece. */
function sent(body: string, headers: Record<string, string>): Request {
  const { url, method, headers: own } = evaluateRequestOf("", headers);
  let at = 0;
  const pieces = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      if (at >= body.length) return controller.close();
      controller.enqueue(new TextEncoder().encode(body.slice(at, at += 65_536)));
    },
  });
  return new Request(url, { method, headers: own, body: pieces });
}

function batches(): Record<string, unknown> {
  return {
    "12 schemas of 60 kB": scenario([schemas(4, 60_000), schemas(4, 60_000), schemas(4, 60_000)]),
    "as many schemas as fit": scenario(Array.from({ length: 16 }, () => schemas(200, 1_200))),
    "schemas for each turn of a scenario": {
      id: "s",
      checks: schemas(4, 60_000).checks,
      interactions: scenario(Array.from({ length: 200 }, () => ({}))).interactions,
    },
    "one schema of 4 MB": scenario([schemas(1, 4_000_000)]),
    "one schema of 100,000 keys": scenario([{
      checks: [{ type: "json", value: Object.fromEntries(many(100_000, (at) => [`k${at}`, at])) }],
    }]),
    "40,000 patterns": scenario(Array.from({ length: 200 }, () => regexes(200))),
    "100 patterns for 1,000 tool calls": scenario([{
      reference_tools: many(100, (at) => ({ name: "search", args: { q: { $regex: `e ${at}` } } })),
      tools_mode: "superset",
    }]),
  };
}

function scenario(turns: Fields[]) {
  const interactions = turns.map((turn, at) => ({ id: `${at}`, user_message: "?", ...turn }));
  return { id: "s", interactions };
}

function many<T>(length: number, make: (at: number) => T): T[] {
  return Array.from({ length }, (_, at) => make(at));
}

let made = 0;

function regexes(count: number): Fields {
  return { checks: many(count, () => ({ type: "regex", value: `(a|b)*${++made}$` })) };
}

function schemas(count: number, characters: number): Fields {
  const property = (at: number) => ({
    type: "object",
    properties: { a: { type: "string", pattern: `^${made}`, maxLength: at }, b: { enum: [1, 2] } },
  });
  const size = JSON.stringify(property(1)).length + 10;
  const schema = () => {
    made++;
    const fields = many(Math.floor(characters / size), (at) => [`p${at}`, property(at)]);
    return { type: "json", value: { properties: Object.fromEntries(fields) } };
  };
  return { checks: many(count, schema) };
}
