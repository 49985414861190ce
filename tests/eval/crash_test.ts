import { assertEquals } from "@std/assert";
import { batch, lastEvent, lastMessage, startAsync, startEndpoint } from "../fakes/process_runs.ts";
import { hang, startProviderDouble } from "../fakes/provider_double.ts";
import { startServiceProcess } from "../fakes/service_process.ts";
import { withFolder } from "../fakes/with_folder.ts";

Deno.test("a crash of the process costs at most the replies in flight", () =>
  withFolder(async (folder) => {
    await using endpoint = await startEndpoint(() => 0);
    await using judge = await startProviderDouble(hang());
    const environment = { EVAL_DATA: `${folder}/eval.db`, EVAL_CONCURRENCY: "1" };
    const judged = { ...environment, JUDGE_BASE_URL: judge.baseUrl, JUDGE_MODEL: "judge" };
    const body = { test_batch: batch(1, 4), endpoint: endpoint.baseUrl, model_id: "m" };
    let id: string;
    {
      await using service = await startServiceProcess("eval", { environment: judged });
      id = await startAsync(service, body);
      await judge.received(1); // the first reply is being scored, and the second turn is asked
      await endpoint.received(2);
      service.kill("SIGKILL");
      await service.status;
    }
    await using service = await startServiceProcess("eval", { environment });
    assertEquals((await lastEvent(service, id)).event, "result");
    const asked = endpoint.requests.map(lastMessage);
    assertEquals(asked, ["0.0", "0.1", "0.0", "0.1", "0.2", "0.3"]);
  }));
