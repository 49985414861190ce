import { createLocalEmbedder } from "../../../eval/score/local_encoder.ts";
import type { EvaluateResponse } from "../../../eval/test/evaluate_response.ts";
import { endpointTarget } from "../../fakes/endpoint_target.ts";
import { interaction, providerError, scenario } from "../../fakes/eval_ports.ts";
import { evalService, evaluateBody, evaluateWith } from "../../fakes/eval_service.ts";
import { memoryStore } from "../../fakes/memory_store.ts";
import { startProviderDouble } from "../../fakes/provider_double.ts";
import { recordedRun } from "../../fakes/recorded_run.ts";
import { fakeJudge, scoringPorts } from "../../fakes/scoring_ports.ts";
import { type ComparedTwo, compareTwo, pairIn } from "../../fakes/compare_two.ts";

/** What must hold when something breaks, and the result. */
export interface Fact {
  name: string;
  goal: string;
  measure(): Promise<{ result: string; isKept: boolean }>;
}

type Fields = Parameters<typeof interaction>[1];

/** Twenty questions; every second one is answered badly. */
const batch = (fields: Fields = {}) =>
  Array.from({ length: 20 }, (_, index) =>
    scenario(`s${index}`, [
      interaction("t", { user_message: `question ${index}`, reference_reply: "fine", ...fields }),
    ]));

const isBad = (text: string) => Number(/question (\d+)/.exec(text)![1]) % 2 === 1;
const show = (value: number | null | undefined) => value?.toFixed(2) ?? "not known";
const showSpan = (span: readonly [number, number] | null) => span?.map(show).join(" to ") ?? "none";

/** Whether one interval holds another, up to rounding. */
function holds(outer: readonly [number, number], inner: readonly [number, number]): boolean {
  return outer[0] <= inner[0] + 1e-9 && inner[1] <= outer[1] + 1e-9;
}

type Results = EvaluateResponse["results"];

interface Asked {
  fields?: Fields;
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

/** The same replies with a judge that works, and with one that is down on the bad half. */
async function withJudge(): Promise<{ healthy: Results; broken: Results }> {
  const grade = (question: string) => isBad(question) ? 0 : 10;
  const healthy = await ask({ grade });
  const broken = await ask({ grade: (question) => isBad(question) ? null : grade(question) });
  return { healthy: healthy.results, broken: broken.results };
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

/** A verdict that must be one of those given. */
function verdict(
  name: string,
  { wanted, compare }: { wanted: ComparedTwo["verdict"][]; compare: () => Promise<ComparedTwo> },
): Fact {
  return {
    name,
    goal: wanted.join(" or "),
    async measure() {
      const { verdict, decided_by, scores, reason } = await compare();
      const { difference = null, p } = scores[decided_by] ?? {};
      const why = reason === null
        ? `${decided_by} ${show(difference)}, p ${p?.toFixed(4)}`
        : reason;
      return { result: `${verdict}: ${why}`, isKept: wanted.includes(verdict) };
    },
  };
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

export const FACTS: Fact[] = [
  {
    name: "half of the replies become gibberish: overall, labels",
    goal: "both fall, none is missing",
    async measure() {
      const [healthy, broken] = [await askLabelled(false), await askLabelled(true)];
      const read = ({ statistics: { overall, intent_match } }: Results) => [
        overall!.mean,
        intent_match!.mean,
      ];
      const pairs = read(healthy).map((mean, index) => [mean, read(broken)[index]] as const);
      return {
        result: pairs.map(([before, now]) => `${show(before)} → ${show(now)}`).join(", "),
        isKept: pairs.every(([before, now]) => before! - now! > 0.3),
      };
    },
  },
  {
    name: "the judge fails on the bad half: overall",
    goal: "no mean; its bounds hold the true one, its interval holds the bounds",
    async measure() {
      const { healthy, broken } = await withJudge();
      const { mean, bounds, ci95 } = broken.statistics.overall!;
      const truth = healthy.statistics.overall!.mean!;
      return {
        result: `${show(truth)} → ${showSpan(bounds)}, interval ${showSpan(ci95)}`,
        isKept: mean === null && holds(bounds!, [truth, truth]) && holds(ci95!, bounds!),
      };
    },
  },
  {
    name: "the judge fails on the bad half: pass rate",
    goal: "not above the true one: what is missing does not pass",
    async measure() {
      const { healthy, broken } = await withJudge();
      const { mean } = broken.pass_rate!;
      const truth = healthy.pass_rate!.mean;
      return { result: `${show(truth)} → ${show(mean)}`, isKept: mean <= truth };
    },
  },
  {
    name: "half of the replies are too short to tell their language: a check of it",
    goal: "0.50",
    async measure() {
      const { results } = await ask({
        fields: { reference_reply: "", checks: [{ type: "language", value: "de" }] },
        reply: (question) => isBad(question) ? "Ok" : "Das ist in Ordnung so, vielen Dank.",
      });
      const { overall = null } = results.average_scores;
      return { result: show(overall), isKept: overall === 0.5 };
    },
  },
  verdict("grades rise, and replies become longer", {
    wanted: ["improved"],
    compare: () => compareAsked({ grade: () => 0 }, { grade: () => 10, reply: () => LONG }),
  }),
  verdict("replies come nearer in form, and overall cannot be computed", {
    wanted: ["inconclusive"],
    compare: () => compareAsked({ grade: () => null, reply: () => LONG }, { grade: () => null }),
  }),
  verdict("overall rises beside eleven scores that rise with it", {
    wanted: ["improved"],
    compare: () => compareTwo({ baseline: correlated(0), candidate: correlated(0.285) }),
  }),
  ...Object.entries(TEXTLESS).map(([name, answer]) =>
    verdict(`${name}, against a good baseline`, {
      wanted: ["regressed"],
      compare: () => compareTextless(answer),
    })
  ),
];
