import { assertEquals, assertStringIncludes } from "@std/assert";
import { batchFile } from "../../fakes/cli_context.ts";
import { startCli } from "../../fakes/cli_process.ts";
import {
  completion,
  type ReceivedRequest,
  startProviderDouble,
} from "../../fakes/provider_double.ts";
import { startServiceProcess } from "../../fakes/service_process.ts";
import { until } from "../../fakes/until.ts";
import { withFolder } from "../../fakes/with_folder.ts";

const inDays = (days: number) =>
  new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

/** A provider that says when its models go. */
const startProvider = (dates: Record<string, string>) =>
  startProviderDouble((request: ReceivedRequest) => {
    if (request.method === "POST") return completion({ content: "right" })(request);
    const data = Object.entries(dates).map(([id, shutdown_date]) => ({ id, shutdown_date }));
    return Response.json({ object: "list", data });
  });

Deno.test("a run warns of a model and of a judge that their providers shut down within 60 days", () =>
  withFolder(async (cwd) => {
    await using endpoint = await startProvider({ soon: inDays(30), later: inDays(90) });
    await using judges = await startProvider({ gone: inDays(-3), soon: inDays(10) });
    await Deno.writeTextFile(`${cwd}/batch.jsonl`, batchFile(1));
    const warningsOf = async (models: string[], judge: string) => {
      const named = models.flatMap((model) => ["--model", model]);
      const args = ["run", "batch.jsonl", "--endpoint", endpoint.baseUrl, ...named];
      const environment = { JUDGE_BASE_URL: judges.baseUrl, JUDGE_MODEL: judge };
      const { err } = await startCli(args, { cwd, environment }).outcome;
      return err.match(/^warning: .*$/gm) ?? [];
    };
    assertEquals(await warningsOf(["later"], "other"), []);
    assertEquals(await warningsOf(["later", "soon"], "gone"), [
      `warning: the provider shuts down the model "soon" on ${inDays(30)}, in 30 days`,
      `warning: the provider's date for the end of the model "gone" has passed: ${inDays(-3)}`,
    ]);
  }));

Deno.test("a service warns at its start of a judge that will be shut down", async () => {
  await using judges = await startProvider({ soon: inDays(60) });
  await using service = await startServiceProcess("eval", {
    environment: { JUDGE_BASE_URL: judges.baseUrl, JUDGE_MODEL: "soon", JUDGE_API_KEY: "k" },
  });
  const line = await until(() => service.lines.find((line) => line.includes("shuts down")));
  assertStringIncludes(line, `\\"soon\\" on ${inDays(60)}`);
  assertEquals(judges.requests[0]!.headers.get("authorization"), "Bearer k");
});
