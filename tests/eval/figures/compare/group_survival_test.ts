import { assertEquals } from "@std/assert";
import type { Comparison } from "../../../../eval/figures/compare_stored.ts";
import { completion, startProviderDouble } from "../../../fakes/provider_double.ts";
import { startServiceProcess } from "../../../fakes/service_process.ts";

const SCENARIOS = 12;
const MODELS = ["acme/a", "acme/b", "acme/c"];

Deno.test("a group survives a kill of the service: its runs continue by themselves, and it ends with all models and verdicts", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await using endpoint = await startProviderDouble((request) =>
      completion({ content: `${request.body.model} says hello` })(request)
    );
    const environment = {
      EVAL_DATA: `${folder}/eval.db`,
      EVAL_CONCURRENCY: "3",
      PRICES: '{"acme/*": {"input": 1, "output": 2}}',
    };
    const body = {
      endpoint: endpoint.baseUrl,
      model_ids: MODELS,
      test_batch: Array.from({ length: SCENARIOS }, (_, index) => ({
        id: `s${index}`,
        interactions: [{ id: "1", user_message: `${index}`, reference_reply: "hello" }],
      })),
    };
    let id = "";
    {
      await using doomed = await startServiceProcess("eval", { environment });
      const response = await fetch(`${doomed.url}/evaluate`, {
        method: "POST",
        headers: { "content-type": "application/json", prefer: "respond-async" },
        body: JSON.stringify(body),
      });
      id = (await response.json()).group_id;
      await endpoint.received(10);
      doomed.kill("SIGKILL");
      await doomed.status;
    }
    const before = endpoint.requests.map(({ body }) => body.model);
    assertEquals(new Set(before), new Set(MODELS)); // they share the limit
    await using service = await startServiceProcess("eval", { environment });
    const events = await (await fetch(`${service.url}/compare?group=${id}`, {
      headers: { accept: "text/event-stream" },
    })).text();
    const [, data] = /event:result\n(?:id:end\n)?data:(.*)\n/.exec(events) ?? [];
    const report: Comparison = JSON.parse(data!);
    assertEquals(report.status, "completed");
    assertEquals(report.runs.map(({ name, progress }) => [name, progress.done]), [
      ["acme/a", SCENARIOS],
      ["acme/b", SCENARIOS],
      ["acme/c", SCENARIOS],
    ]);
    assertEquals([report.pairs!.length, report.cost!.turns], [3, 3 * SCENARIOS]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
