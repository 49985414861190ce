import { assertEquals, assertStringIncludes } from "@std/assert";
import { openSharing } from "../../../eval/sharing/open_sharing.ts";
import { silentLogger } from "../../../shared/log.ts";
import {
  evalService,
  evaluateBody,
  evaluateRequestOf,
  TWO_TURNS,
} from "../../fakes/eval_service.ts";
import { gatedTarget } from "../../fakes/gated_target.ts";
import { postgresBin, startPostgres } from "../../fakes/postgres_server.ts";
import { until } from "../../fakes/until.ts";

Deno.test.sanitizer({ ops: false, resources: false }); // connections to PostgreSQL outlive a test

const ignore = postgresBin === undefined;
const server = ignore ? undefined! : await startPostgres();
Deno.test.afterAll(async () => await server?.[Symbol.asyncDispose]());

/** Two processes on one database, with a model that answers when the test releases it. */
async function twoProcesses(address: string) {
  const gate = gatedTarget();
  const open = async () => {
    const { store, sharing } = await openSharing({
      address,
      maxConnections: 4,
      log: silentLogger,
      isExclusive: false,
    });
    return evalService(() => "", { store, sharing, target: gate.target });
  };
  const [first, second] = [await open(), await open()];
  return {
    first,
    second,
    gate,
    async [Symbol.asyncDispose]() {
      for (const { runs, store } of [first, second]) {
        await runs.stop();
        await store.close();
      }
    },
  };
}

const MODELS = { model_id: undefined, model_ids: ["m", "n"] };
const WAYS: Record<string, { headers: Record<string, string>; answer?: string }> = {
  "an event stream": { headers: { accept: "text/event-stream" }, answer: "event:result" },
  "an answer at once": { headers: { prefer: "respond-async" } },
  "the whole answer": { headers: {}, answer: "Evaluation completed successfully" },
};

for (const [what, fields] of [["run", {}], ["group", MODELS]] as const) {
  for (const [way, { headers, answer }] of Object.entries(WAYS)) {
    Deno.test({
      name:
        `a ${what} continues for a client that asked for ${way} if one of another process leaves`,
      ignore,
      async fn() {
        await using processes = await twoProcesses(await server.createDatabase());
        const { first, second, gate } = processes;
        const body = evaluateBody({ ...TWO_TURNS, ...fields });
        const key = { "idempotency-key": "k" };
        const leaving = new AbortController();
        const left = first.service(
          new Request(evaluateRequestOf(body, key), { signal: leaving.signal }),
        ).catch((error) => error);
        const models = what === "run" ? 1 : 2;
        await gate.reached(models);

        const request = evaluateRequestOf(body, { ...key, ...headers });
        const text = second.service(request).then((response) => response.text());
        await until(() => second.runs.count === models, { within: 60_000 });
        leaving.abort();
        await left;
        gate.open();
        if (answer) assertStringIncludes(await text, answer);
        const list = async () => (await second.store.listRuns({ limit: 5 })).runs;
        const isCompleted = async () =>
          (await list()).every(({ status }) => status === "completed");
        await until(isCompleted, { within: 60_000, what: "all runs are completed" });
        for (const { id } of await list()) assertEquals((await second.store.tally(id)).done, 2);
      },
    });
  }
}
