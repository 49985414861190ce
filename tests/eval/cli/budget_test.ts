import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { TargetReply } from "../../../eval/endpoint/reply.ts";
import { batchFile, cliContext } from "../../fakes/cli_context.ts";

const target = ["--endpoint", "http://model.example/v1", "--model", "acme/model"];
const usage = { input_tokens: 6, output_tokens: 4, total_tokens: 10 };

/** A model whose replies take 10 tokens each. */
function countingModel(reply: Partial<TargetReply> = {}) {
  let calls = 0;
  const cli = cliContext({
    files: { "b.jsonl": batchFile(20) },
    target: {
      isPriced: true,
      ask: () => {
        calls++;
        return Promise.resolve({ content: "right", usage, latencyMs: 1, ...reply });
      },
    },
  });
  return { ...cli, calls: () => calls };
}

Deno.test("a run ends when its tokens are spent, says so, and continues with a higher cap", async () => {
  const { run, store, calls } = countingModel();
  const ended = await run(
    ...["run", "b.jsonl", ...target, "--concurrency", "1", "--max-tokens", "50"],
  );
  assertEquals(ended.code, 1, ended.err);
  assertStringIncludes(ended.err, "ended early: its budget of 50 tokens is spent (50)\n");
  assertStringIncludes(ended.err, "5 of 20 turns are stored; continue with: assay-eval resume");
  assertEquals(calls(), 5);
  const { runs: [stored] } = await store.listRuns({ limit: 1 });
  assertEquals([stored!.status, stored!.detail, stored!.tally?.done], [
    "interrupted",
    "its budget of 50 tokens is spent (50)",
    5,
  ]);

  const same = await run("resume", "latest", "--concurrency", "1");
  assertStringIncludes(same.err, "its budget of 50 tokens is spent (50)\n");
  assertEquals(calls(), 5, "what was spent before counts");
  const more = await run("resume", "latest", "--concurrency", "1", "--max-tokens", "200");
  assertEquals([more.code, calls()], [0, 20], more.err);
});

Deno.test("a run that spends its budget with the last turn is complete", async () => {
  const { run } = countingModel();
  const { code, err } = await run("run", "b.jsonl", ...target, "--max-tokens", "200");
  assertEquals(code, 0, err);
});

Deno.test("a run ends when its money is spent, or if nobody knows what it costs", async () => {
  const priced = countingModel({ cost: { amount: 0.25, currency: "EUR" } });
  const cap = ["--concurrency", "1", "--max-cost", "0.6"];
  const spent = await priced.run("run", "b.jsonl", ...target, ...cap);
  assertEquals([spent.code, priced.calls()], [1, 3]);
  assertStringIncludes(spent.err, "its budget of 0.6 is spent (0.75)\n");
  const unpriced = countingModel({ cost: null });
  const free = await unpriced.run("run", "b.jsonl", ...target, ...cap);
  assertStringIncludes(free.err, "its budget cannot be kept: the model has no price (PRICES)");
  const uncounted = countingModel({ usage: null });
  const unknown = await uncounted.run("run", "b.jsonl", ...target, "--max-tokens", "50");
  assertStringIncludes(unknown.err, "cannot be kept: the endpoint does not report tokens");
  assert(uncounted.calls() < 20);
});
