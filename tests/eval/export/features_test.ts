import { assert } from "@std/assert";
import { priceTarget } from "../../../eval/endpoint/prices.ts";
import type { Target } from "../../../eval/endpoint/target.ts";
import { providerError } from "../../fakes/eval_ports.ts";
import { evalService, evaluateBody, evaluateWith } from "../../fakes/eval_service.ts";
import { fakeJudge, scoringPorts } from "../../fakes/scoring_ports.ts";

const call = { name: "search", args: { q: "x" }, status: "ok" as const, ms: 1 };

/** A model that is priced, calls a tool, answers later turns worse, and fails once. */
function target(): Target {
  let failed = 0;
  const usage = { input_tokens: 1_000_000, output_tokens: 0, total_tokens: 1_000_000 };
  const model: Target = {
    ask(conversation) {
      const isAfterReference = conversation.some(({ content }) => content === "the reference");
      const isFailing = conversation.length > 1 && !isAfterReference && failed++ === 0;
      if (isFailing) return Promise.reject(providerError(500));
      const later = isAfterReference ? "the reference" : "no idea";
      const content = conversation.length === 1 ? "a reference" : later;
      return Promise.resolve({ content, usage, toolCalls: [call] });
    },
  };
  return priceTarget(model, { input: 2, output: 0, currency: "EUR" });
}

/** A run that uses every feature, exported by a path's query. */
async function exportWith(): Promise<(query: string) => Promise<string>> {
  const { judge } = fakeJudge((_question, call) =>
    JSON.stringify({ reason: "so", grade: 5 + call % 3 })
  );
  const { service } = evalService(undefined, {
    target: target(),
    scoring: scoringPorts({ judge }),
  });
  const send = (path: string, method = "GET", body?: unknown) =>
    service(
      new Request(`http://127.0.0.1:8080${path}`, {
        method,
        ...(body !== undefined && {
          body: JSON.stringify(body),
          headers: { "content-type": "application/json" },
        }),
      }),
    );
  const test_batch = ["a", "b", "c"].map((id) => ({
    id,
    interactions: ["1", "2"].map((turn) => ({
      id: turn,
      user_message: `${id} ${turn}?`,
      reference_reply: "the reference",
      reference_tools: [{ name: turn === "1" ? "search" : "other" }],
      checks: [{ type: "contains", value: "reference", name: "says it" }],
    })),
  }));
  await send("/datasets/support", "PUT", { test_batch });
  const { test_batch: _, ...named } = evaluateBody({ dataset: "support", history: "both" });
  const options = { attempts: 2, rubric: "Be fair.", judge_votes: 2 };
  const { run_id } = await evaluateWith(service, { ...named, ...options });
  for (const [author, value] of [["ann", 0.8], ["ben", 0.6]] as const) {
    for (const scenario of [0, 1]) {
      const path = `/runs/${run_id}/turns/${scenario}/1/0/grade`;
      await send(path, "PUT", { value: value + scenario / 10, author });
    }
  }
  return async (query) => {
    const response = await send(`/runs/${run_id}/export?${query}`);
    assert(response.ok, `${query}: ${response.status}`);
    return await response.text();
  };
}

/** By the query of an export, what it shows of each feature. */
const SHOWN: Record<string, Record<string, RegExp>> = {
  "format=json&noise=true": {
    dataset: /"dataset":"support@[0-9a-f]{32}"/,
    checks: /"check_counts":\[\{"name":"says it"/,
    tools: /"tool_calls":\[\{"name":"search"/,
    "history gap": /"history_gap":\{/,
    noise: /"noise":\{"overall"/,
    cost: /"cost":\{"amount":\d+,"currency":"EUR","turns":/,
    grades: /"grades":\[/,
    agreement: /"agreement":\{.*"alpha_interval"/,
  },
  "format=jsonl": {
    dataset: /"dataset":"support@/,
    checks: /"check_results":\[/,
    tools: /"tool_calls":\[\{"name":"search"/,
    "history gap": /"history_of":"reference"/,
    cost: /"cost":\{"amount":2,"currency":"EUR"\}/,
    grades: /"grades":\[/,
  },
  "format=jsonl&rows=scores&noise=true": {
    dataset: /"dataset":"support@/,
    checks: /"score":"checks"/,
    tools: /"score":"tools"/,
    "history gap": /"score":"overall".*"history_gap":\{"scenarios"/,
    noise: /"score":"overall".*"noise":\{"mean"/,
    "error bounds": /"score":"overall".*"error_bounds":\[/,
    agreement: /"score":"judge".*"agreement":\{.*"alpha_interval"/,
  },
  "format=csv": {
    dataset: /support@[0-9a-f]{32}/,
    checks: /"failed_checks","check_results"/,
    tools: /"reference_tools","tool_calls"/,
    "history gap": /"history"/,
    cost: /"cost","cost_currency"/,
    grades: /"grade","grades"/,
  },
  "format=csv&rows=scores&noise=true": {
    dataset: /"dataset"/,
    "history gap": /"history_gap","history_gap_low","history_gap_high"/,
    noise: /"noise_of_scenarios","noise_of_attempts","noise_of_votes"/,
    "error bounds": /"error_bounds_low","error_bounds_high"/,
    agreement: /"agreement_of_people","agreement_with_people"/,
  },
  "format=junit": {
    dataset: /<property name="dataset" value="support@/,
    checks: /failed check: says it/,
    tools: /tool/,
    "history gap": /<property name="overall_history_gap" value="0\.\d+"/,
    cost: /<property name="run_cost" value="\d+ EUR"/,
    grades: /graded 0\.8 by ann/,
    agreement: /<property name="agreement_of_people"/,
  },
  "format=markdown&noise=true": {
    dataset: /- Dataset `support@[0-9a-f]{32}`/,
    checks: /### Failed checks/,
    tools: /- Turns whose tool calls are not those expected: \d+/,
    "history gap": /### History gap/,
    noise: /### .*[Nn]oise/,
    cost: /- Cost \d+ EUR/,
    grades: /Graded by people: 2 turns, 4 grades/,
    agreement: /### Agreement/,
  },
  "format=html": {
    dataset: /"dataset":"support@/,
    checks: /"check_counts":\[/,
    tools: /"tool_calls":\[/,
    "history gap": /"history_gap":\{/,
    noise: /"noise":\{/,
    cost: /"currency":"EUR"/,
    "error bounds": /"error_bounds":\[/,
    grades: /"grades":\[/,
    agreement: /"agreement":\{/,
  },
};

Deno.test("every export shows what its format can of each feature", async () => {
  const read = await exportWith();
  for (const [query, features] of Object.entries(SHOWN)) {
    const text = await read(query);
    for (const [feature, pattern] of Object.entries(features)) {
      assert(pattern.test(text), `${query} does not show ${feature}: ${text.slice(0, 2_000)}`);
    }
  }
});
