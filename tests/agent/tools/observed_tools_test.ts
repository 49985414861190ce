import { assertEquals, assertRejects } from "@std/assert";
import { z } from "zod";
import { observeTools } from "../../../agent/tools/observed_tools.ts";
import { createToolbox, type Tool } from "../../../agent/tools/tool.ts";
import { createMetrics } from "../../../shared/ops/metrics.ts";

Deno.test("tools that are renamed again and again do not create endless metrics", async () => {
  const metrics = createMetrics({ runs: () => 0 });
  const tool = (name: string): Tool => ({
    name,
    description: "",
    schema: z.object({}),
    run: () => "done",
  });
  let toolbox = createToolbox([]);
  const tools = observeTools({
    current: () => toolbox,
    describe: () => ({ tools: [], servers: [] }),
  }, metrics);
  for (let round = 0; round < 3_000; round++) {
    toolbox = createToolbox([tool(`tool-${round}`)]);
    await tools.current().find(`tool-${round}`)!.run({}, {});
  }
  const lines = (await metrics.text()).split("\n")
    .filter((line) => line.startsWith("assay_tool_calls_total{"));
  assertEquals(lines.length, 1_001);
  assertEquals(lines.at(-1), 'assay_tool_calls_total{tool="other",outcome="ok"} 2000');
});

Deno.test("a tool whose caller has left is counted as left, one at its time limit as an error", async () => {
  const metrics = createMetrics({ runs: () => 0 });
  const toolbox = createToolbox([{
    name: "slow",
    description: "",
    schema: z.object({}),
    run: (_args, { signal }) => {
      throw new DOMException(signal?.aborted ? "given up" : "a part was given up", "AbortError");
    },
  }]);
  const tools = observeTools({
    current: () => toolbox,
    describe: () => ({ tools: [], servers: [] }),
  }, metrics);
  const late = AbortSignal.abort(new DOMException("late", "TimeoutError"));
  for (const signal of [AbortSignal.abort(), new AbortController().signal, late]) {
    await assertRejects(async () => await tools.current().find("slow")!.run({}, { signal }));
  }
  const lines = (await metrics.text()).split("\n")
    .filter((line) => line.startsWith("assay_tool_calls_total{"));
  assertEquals(lines, [
    'assay_tool_calls_total{tool="slow",outcome="left"} 1',
    'assay_tool_calls_total{tool="slow",outcome="error"} 2',
  ]);
});
