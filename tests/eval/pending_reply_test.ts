import { assertEquals, assertMatch } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { completion, hang, startProviderDouble } from "../fakes/provider_double.ts";
import { startServiceProcess } from "../fakes/service_process.ts";
import { until } from "../fakes/until.ts";

/** Waits until a reply is on the disk with this many tries; reads the database each time. */
async function replyOnDisk(path: string, tries: number): Promise<void> {
  const database = new DatabaseSync(path, { readOnly: true });
  const query = database.prepare("select count(*) as n from pending_replies where tries = ?");
  await until(() => query.get(tries)!.n === 1);
  database.close();
}

Deno.test("a reply whose scoring crashes the process is not asked for again, and given up after three more tries", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await using endpoint = await startProviderDouble(completion({ content: "paid for" }));
    await using judge = await startProviderDouble(hang());
    const environment = {
      EVAL_DATA: `${folder}/eval.db`,
      JUDGE_BASE_URL: judge.baseUrl,
      JUDGE_MODEL: "judge",
    };
    let id = "";
    for (let life = 0; life < 4; life++) {
      await using service = await startServiceProcess("eval", { environment });
      if (life === 0) {
        const response = await fetch(`${service.url}/evaluate`, {
          method: "POST",
          headers: { "content-type": "application/json", prefer: "respond-async" },
          body: JSON.stringify({
            test_batch: {
              id: "s",
              interactions: [{ id: "1", user_message: "Hello", reference_reply: "paid for" }],
            },
            endpoint: endpoint.baseUrl,
            model_id: "m",
          }),
        });
        id = (await response.json()).run_id;
      }
      await judge.received(life + 1);
      await replyOnDisk(environment.EVAL_DATA, life);
      service.kill("SIGKILL");
      await service.status;
    }
    await using service = await startServiceProcess("eval", { environment });
    await (await fetch(`${service.url}/runs/${id}/events`)).text(); // until its end
    const run = await (await fetch(`${service.url}/runs/${id}`)).json();
    assertEquals(run.status, "completed");
    const [turn] = run.result.results.scenarios[0].attempts[0].interactions;
    assertEquals([turn.agent_reply, turn.scores.overall], ["paid for", null]);
    assertMatch(turn.missing_scores.judge, /^given up/);
    assertEquals([endpoint.requests.length, judge.requests.length], [1, 4]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
