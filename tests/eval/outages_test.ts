import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { createLocalEmbedder } from "../../eval/score/local_encoder.ts";
import type { EvaluateResponse } from "../../eval/test/evaluate_response.ts";
import { type ComparedTwo, compareTwo, pairIn } from "../fakes/compare_two.ts";
import { endpointTarget } from "../fakes/endpoint_target.ts";
import { interaction, providerError, scenario } from "../fakes/eval_ports.ts";
import { evalService, evaluateBody, evaluateWith } from "../fakes/eval_service.ts";
import { memoryStore } from "../fakes/memory_store.ts";
import { startProviderDouble } from "../fakes/provider_double.ts";
import { recordedRun } from "../fakes/recorded_run.ts";
import { fakeJudge, scoringPorts } from "../fakes/scoring_ports.ts";

/** Twenty questions with the same expectation. */
const batch = (fields: Parameters<typeof interaction>[1] = {}) =>
  Array.from({ length: 20 }, (_, index) =>
    scenario(`s${index}`, [
      interaction("t", { user_message: `question ${index}`, reference_reply: "fine", ...fields }),
    ]));

const isBad = (text: string) => Number(/question (\d+)/.exec(text)![1]) % 2 === 1;
const get = (path: string) => new Request(`http://127.0.0.1:8080${path}`);

/** Replies with a judge that works, or with one that fails on the bad half. */
async function withJudge(fails: boolean, store = memoryStore()): Promise<EvaluateResponse> {
  const { judge } = fakeJudge(({ messages }) => {
    const bad = isBad(messages[1]!.content);
    if (fails && bad) throw providerError(500);
    return JSON.stringify({ reason: "r", grade: bad ? 0 : 10 });
  });
  const { service } = evalService(() => "fine", { store, scoring: scoringPorts({ judge }) });
  return await evaluateWith(service, evaluateBody({ test_batch: batch() }));
}

Deno.test("a judge that fails on the bad half raises no mean, no interval and no pass rate", async () => {
  const store = memoryStore();
  const { results: healthy, run_id: good } = await withJudge(false, store);
  const { results, run_id } = await withJudge(true, store);
  assertAlmostEquals(healthy.average_scores.overall!, 0.75, 1e-9);
  const { mean, missing } = results.statistics.overall!;
  assertAlmostEquals(mean!, 0.5, 1e-9);
  assert(missing > 0);
  assertEquals(healthy.pass_rate!.mean, 0.5);
  assertEquals(results.pass_rate!.mean, 0.5);
  const { service } = evalService(undefined, { store });
  const { runs } = await (await service(get("/runs?sort=-overall"))).json();
  const listed = runs.find((run: { run_id: string }) => run.run_id === run_id);
  assertEquals(listed.headline.scores.overall.mean, mean);
  const compared = await service(get(`/compare?baseline=${good}&candidate=${run_id}`));
  assertEquals((await compared.json()).pairs[0].verdict, "inconclusive");
  for (const format of ["markdown", "csv&rows=scores"]) {
    const text = await (await service(get(`/runs/${run_id}/export?format=${format}`))).text();
    assert(/overall\W+0\.5/.test(text), text.slice(0, 400));
  }
});

type Results = EvaluateResponse["results"];

interface Asked {
  fields?: Parameters<typeof interaction>[1];
  reply?: (question: string) => string;
  /** A grade from 0 to 10, or `null` if the judge is down. */
  grade?: (question: string) => number | null;
  store?: ReturnType<typeof memoryStore>;
}

async function ask({ fields, reply = () => "fine", grade, store = memoryStore() }: Asked) {
  const { judge } = fakeJudge(({ messages }) => {
    const given = grade!(messages[1]!.content);
    if (given === null) throw providerError(500);
    return JSON.stringify({ reason: "r", grade: given });
  });
  const { service } = evalService((conversation) => reply(conversation.at(-1)!.content), {
    store,
    scoring: scoringPorts(grade ? { judge } : {}),
  });
  return await evaluateWith(service, evaluateBody({ test_batch: batch(fields) }));
}

/** The comparison that `GET /compare` answers for two runs of one store. */
async function compareIds(store: ReturnType<typeof memoryStore>, ids: string[]) {
  const { service } = evalService(undefined, { store });
  const query = `baseline=${ids[0]}&candidate=${ids[1]}`;
  const response = await service(new Request(`http://127.0.0.1:8080/compare?${query}`));
  return pairIn(await response.json()) as ComparedTwo;
}

async function compareAsked(baseline: Asked, candidate: Asked): Promise<ComparedTwo> {
  const store = memoryStore();
  const ids = [];
  for (const asked of [baseline, candidate]) ids.push((await ask({ ...asked, store })).run_id);
  return await compareIds(store, ids);
}

const INTENTS = {
  refund: ["Your money was sent back to your card.", "We refund the full price to your account."],
  delivery: ["Your parcel leaves the warehouse today.", "The courier brings the package tomorrow."],
};

/** Ten questions of each intent, by the sentence encoder of the service; half may be gibberish. */
async function askLabelled(breaks: boolean): Promise<Results> {
  using embedder = createLocalEmbedder();
  const scenarios = Object.entries(INTENTS).flatMap(([intent, texts], kind) =>
    Array.from({ length: 10 }, (_, index) =>
      scenario(`${intent} ${index}`, [
        interaction("t", {
          user_message: `question ${2 * index + kind} about a ${intent}`,
          reference_reply: `${texts[index % 2]} Case ${index}.`,
          reference_metadata: { intent },
        }),
      ]))
  );
  const { service } = evalService((conversation) => {
    const [, number, intent] = /(\d+) about a (\w+)/.exec(conversation.at(-1)!.content)!;
    if (breaks && Number(number) % 4 < 2) return "xq zzk blorf wug 7#";
    return INTENTS[intent as keyof typeof INTENTS][Number(number) % 3 % 2]!;
  }, { scoring: scoringPorts({ embedder }) });
  return (await evaluateWith(service, evaluateBody({ test_batch: scenarios }))).results;
}

const LONG = "fine indeed, and that is what everybody who was asked about it has always said of it";

/** `overall` rises by 0.21 in most scenarios, and eleven scores move with it. */
function correlated(better: number) {
  return recordedRun(Array.from({ length: 12 }, (_, index) => {
    const value = 0.4 + (index % 4 === 3 ? -0.3 : 1.27) * better * (0.6 + 0.05 * index);
    const others = Object.fromEntries(
      Array.from({ length: 11 }, (_, other) => [`score_${other}`, value - 0.01 * other]),
    );
    return [`s${index}`, [["t", { overall: value, ...others }]]];
  }));
}

const completion = (message: Record<string, unknown>, finish_reason: string) => () =>
  Response.json({ choices: [{ message: { role: "assistant", ...message }, finish_reason }] });

/** Answers without a text, as endpoints send them. */
const TEXTLESS: Record<string, () => Response> = {
  "empty texts": completion({ content: "" }, "stop"),
  "texts that a content filter withheld": completion({ content: "" }, "content_filter"),
  "refusals of a content filter (400)": () =>
    Response.json({ error: { message: "filtered", code: "content_filter" } }, { status: 400 }),
  "thoughts only": completion({ content: "<think>well" }, "length"),
  "tool calls only": completion({
    content: null,
    tool_calls: [{ id: "c", type: "function", function: { name: "w", arguments: "{}" } }],
  }, "tool_calls"),
};

async function compareTextless(answer: () => Response): Promise<ComparedTwo> {
  const store = memoryStore();
  const ids = [(await ask({ store })).run_id];
  await using double = await startProviderDouble(answer);
  const { service } = evalService(undefined, { store, target: endpointTarget("openai", double) });
  ids.push((await evaluateWith(service, evaluateBody({ test_batch: batch() }))).run_id);
  return await compareIds(store, ids);
}

Deno.test("half of the replies become gibberish: overall and labels fall, and none is missing", async () => {
  const [healthy, broken] = [await askLabelled(false), await askLabelled(true)];
  for (const score of ["overall", "intent_match"]) {
    const [before, now] = [healthy, broken].map(({ statistics }) => statistics[score]!.mean);
    assert(before! - now! > 0.3, `${score}: ${before} → ${now}`);
  }
});

Deno.test("a reply that is too short to tell its language does not meet a check of it", async () => {
  const { results } = await ask({
    fields: { reference_reply: "", checks: [{ type: "language", value: "de" }] },
    reply: (question) => isBad(question) ? "Ok" : "Das ist in Ordnung so, vielen Dank.",
  });
  assertEquals(results.average_scores.overall, 0.5);
});

/** What each comparison must find, by what happened. */
const VERDICTS: Record<string, [ComparedTwo["verdict"], () => Promise<ComparedTwo>]> = {
  "grades rise, and replies become longer": [
    "improved",
    () => compareAsked({ grade: () => 0 }, { grade: () => 10, reply: () => LONG }),
  ],
  "replies come nearer in form, and overall cannot be computed": [
    "inconclusive",
    () => compareAsked({ grade: () => null, reply: () => LONG }, { grade: () => null }),
  ],
  "overall rises beside eleven scores that rise with it": [
    "improved",
    () => compareTwo({ baseline: correlated(0), candidate: correlated(0.285) }),
  ],
  ...Object.fromEntries(
    Object.entries(TEXTLESS).map(([name, answer]) => [
      `${name}, against a good baseline`,
      ["regressed", () => compareTextless(answer)],
    ]),
  ),
};

for (const [name, [wanted, compare]] of Object.entries(VERDICTS)) {
  Deno.test(`a comparison is ${wanted}: ${name}`, async () => {
    const { verdict, reason } = await compare();
    assertEquals(verdict, wanted, reason ?? "");
  });
}

Deno.test("twelve copies of one question count as one, and the run says so", async () => {
  const { service } = evalService(() => "fine");
  const test_batch = Array.from(
    { length: 12 },
    (_, index) => scenario(`s${index}`, [interaction("t", { reference_reply: "fine" })]),
  );
  const { results, notes } = await evaluateWith(service, evaluateBody({ test_batch }));
  assertEquals([results.statistics.overall!.n, results.statistics.overall!.ci95], [1, null]);
  assert(notes.some(({ code }) => code === "identical_questions"));
});
