import { assertEquals } from "@std/assert";
import type { Target } from "../../eval/ask/target.ts";
import { providerError } from "../fakes/eval_ports.ts";
import {
  evalService,
  evaluateBody,
  evaluateRequestOf,
  evaluateWith,
} from "../fakes/eval_service.ts";
import { fakeEmbedder, fakeJudge, scoringPorts } from "../fakes/scoring_ports.ts";

/**
 * Answers as they were before checks, tools, prices and histories were added. A request that uses
 * none of them must be answered in the same bytes, apart from ids and times. If an answer has
 * changed on purpose: `UPDATE_RECORDED=1 deno test -A tests/eval/recorded_answers_test.ts`, and read
 * the diff.
 */
const RECORDED = new URL("recorded/", import.meta.url);

/** Those that there were. */
const FORMATS = ["json", "jsonl", "csv", "junit", "markdown"];

const turn = (id: string, fields: Record<string, unknown> = {}) => ({
  id,
  user_message: `Question ${id}`,
  ...fields,
});

const KINDS: Record<string, Record<string, unknown>> = {
  plain: {},
  references: {
    test_batch: {
      id: "references",
      description: "several languages",
      interactions: [
        turn("1", { reference_reply: "The answer to Question 1 is yes." }),
        turn("2", { reference_reply: "Die Antwort auf Frage 2 ist nein." }),
        turn("3", { reference_reply: "回答是肯定的。" }),
        turn("4", { reference_reply: "" }),
      ],
    },
  },
  metadata: {
    test_batch: [{
      id: "metadata",
      interactions: [
        turn("greeting", {
          reference_reply: "Hello, how can I help?",
          reference_metadata: { intent: "greeting", sentiment: "positive" },
        }),
        turn("refund", {
          reference_reply: "You get your money back.",
          reference_metadata: { intent: "refund" },
        }),
      ],
    }],
  },
  attempts: {
    attempts: 3,
    test_name: "several attempts",
    pass_threshold: 0.5,
    own_field: { kept: true },
    test_batch: [
      {
        id: "a",
        team: "support",
        interactions: [turn("1", { reference_reply: "Yes", own: [1, 2] }), turn("2")],
      },
      { id: "b", interactions: [turn("1", { reference_reply: "The answer is no." })] },
      { id: "a", interactions: [turn("=1+1", { reference_reply: "The answer is 2." })] },
    ],
  },
  failures: {
    attempts: 2,
    test_batch: {
      id: "failures",
      interactions: [
        turn("1", { reference_reply: "Yes" }),
        turn("fails", { reference_reply: "Yes" }),
        turn("unreadable", {
          reference_reply: "no vectors",
          reference_metadata: { intent: "x" },
        }),
      ],
    },
  },
  judged: {
    rubric: "Be strict.",
    judge_votes: 2,
    test_batch: {
      id: "judged",
      interactions: [turn("1", { reference_reply: "Yes" }), turn("2")],
    },
  },
};

const target: Target = {
  ask(conversation) {
    const { content } = conversation.at(-1)!;
    if (content.includes("fails")) return Promise.reject(providerError(500));
    return Promise.resolve({
      content: `The answer to ${content} is ${conversation.length} & "more".`,
      usage: content.endsWith("2")
        ? null
        : { input_tokens: 10 * conversation.length, output_tokens: 7, total_tokens: 17 },
    });
  },
};

function scoringOf(kind: string) {
  const { embedder } = fakeEmbedder();
  const failing = {
    ...embedder,
    embed: (text: string) =>
      text.includes("vectors") ? Promise.reject(new Error("out of order")) : embedder.embed(text),
  };
  const { judge } = fakeJudge((_question, call) => `{"reason": "so", "grade": ${5 + call % 2}}`);
  return scoringPorts({ embedder: failing, ...(kind === "judged" && { judge }) });
}

async function answersTo(kind: string): Promise<string> {
  const { service } = evalService(undefined, {
    target,
    scoring: scoringOf(kind),
    environment: { EVAL_CONCURRENCY: "1" },
  });
  const get = async (path: string) =>
    await (await service(new Request(`http://127.0.0.1:8080${path}`))).text();
  const body = evaluateBody(KINDS[kind]);
  const answered = await (await service(evaluateRequestOf(body))).text();
  const { run_id: id } = JSON.parse(answered);
  const { run_id: other } = await evaluateWith(service, body);
  const parts: [string, string][] = [
    ["POST /evaluate", answered],
    ["GET /runs/{id}", await get(`/runs/${id}`)],
    ["GET /runs/{id}/events", await get(`/runs/${id}/events`)],
    ["GET /compare", await get(`/compare?runs=${id},${other}`)],
  ];
  for (const name of FORMATS) {
    parts.push([name, await get(`/runs/${id}/export?format=${name}`)]);
  }
  return parts.map(([name, text]) => `=== ${name}\n${withoutTimes(text)}\n`).join("");
}

/** Ids and times are the only things that may differ. */
function withoutTimes(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, "ID")
    .replaceAll(/"(latency_ms|execution_time_ms)":\d+/g, '"$1":0')
    .replaceAll(/(?<="latency_ms":\{)[^}]+/g, '"mean":0,"p50":0,"p95":0')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+Z)?/g, "TIME")
    .replaceAll(/ time="[\d.]+"/g, ' time="0"')
    // The thirteenth cell of a CSV row is the latency.
    .replaceAll(/^("ID",(?:(?:"(?:[^"]|"")*"|\d*),){11})\d+,/gm, "$10,");
}

for (const kind of Object.keys(KINDS)) {
  Deno.test(`a request of the kind "${kind}" is answered as it always was`, async () => {
    const file = new URL(`${kind}.txt`, RECORDED);
    const answers = await answersTo(kind);
    if (Deno.env.get("UPDATE_RECORDED")) await Deno.writeTextFile(file, answers);
    assertEquals(answers, await Deno.readTextFile(file));
  });
}
