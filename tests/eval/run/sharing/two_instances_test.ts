import { assert, assertEquals } from "@std/assert";
import { openSharing } from "../../../../eval/run/sharing/open_sharing.ts";
import { silentLogger } from "../../../../shared/service/log.ts";
import {
  callRoute,
  evalService,
  evaluateBody,
  evaluateRequestOf,
  startAsync,
  TWO_TURNS,
} from "../../../fakes/eval_service.ts";
import { gatedTarget } from "../../../fakes/gated_target.ts";
import { postgresBin, startPostgres } from "../../../fakes/postgres_server.ts";
// connections to PostgreSQL outlive a test
import { test } from "../../../fakes/leaky.ts";

const ignore = postgresBin === undefined;
const server = ignore ? undefined! : await startPostgres();
Deno.test.afterAll(async () => await server?.[Symbol.asyncDispose]());

/** Two instances on one database, with a model that answers when the test releases it. */
async function twoInstances() {
  const address = await server.createDatabase();
  const gate = gatedTarget();
  const open = async () => {
    const { store, sharing } = await openSharing({
      address,
      maxConnections: 4,
      concurrency: 8,
      log: silentLogger,
      isExclusive: false,
    });
    const opened = evalService(() => "", { store, sharing, target: gate.target });
    await opened.runs.resumeUnfinished();
    return opened;
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

const ask = (
  { service }: Awaited<ReturnType<typeof twoInstances>>["first"],
  key: string,
  init: RequestInit = {},
) =>
  service(
    new Request(evaluateRequestOf(evaluateBody(TWO_TURNS), { "idempotency-key": key }), init),
  );

test({
  name:
    "a key that is repeated at a second instance is answered with the result, whenever it comes",
  ignore,
  async fn() {
    await using instances = await twoInstances();
    const { first, second, gate } = instances;
    gate.open();
    const found: unknown[] = [];
    for (let round = 0; round < 40; round++) {
      const asked = ask(first, `k${round}`);
      await new Promise((resolve) => setTimeout(resolve, 2 * round)); // until after its end
      const answers = await Promise.all([asked, ask(second, `k${round}`)]);
      const [one, other] = await Promise.all(answers.map((answer) => answer.json()));
      found.push([answers[1]!.status, other.run_id === one.run_id]);
    }
    assertEquals(found, Array(40).fill([200, true]));
  },
});

test({
  name: "a client at one instance gets the result of a run whose other client has left another",
  ignore,
  async fn() {
    await using instances = await twoInstances();
    const { first, second, gate } = instances;
    const leaving = new AbortController();
    const left = ask(first, "k", { signal: leaving.signal });
    await gate.reached(1);
    const stayed = ask(second, "k");
    leaving.abort();
    assertEquals((await left).status, 499);
    gate.open();
    assertEquals((await stayed).status, 200);
  },
});

test({
  name:
    "each conversation of a run of thousands is asked once, and a small run does not wait behind it",
  ignore,
  async fn() {
    await using instances = await twoInstances();
    const { first, second, gate } = instances;
    const large = await startAsync(first.service, { attempts: 1_000, test_batch: SCENARIOS });
    await gate.reached(16); // all that both may have at once
    const small = await startAsync(second.service, { attempts: 5 });
    gate.open();
    const { signal } = new AbortController();
    assertEquals((await first.runs.end(small, signal)).status, "completed");
    assert((await second.store.tally(large)).done < 1_000, "the small run came late");
    assertEquals((await second.runs.end(large, signal)).status, "completed");
    assertEquals([(await first.store.tally(large)).done, gate.asked.length], [2_000, 2_005]);
  },
});

const SCENARIOS = ["a", "b"].map((id) => ({
  id,
  interactions: [{ id: "1", user_message: id }],
}));

test({
  name: "a run that is cancelled is asked no more, and its conversations do not come back",
  ignore,
  async fn() {
    await using instances = await twoInstances();
    const { first, second, gate } = instances;
    const id = await startAsync(first.service, { attempts: 40 });
    await gate.reached(16);
    await callRoute(second.service, `POST /runs/${id}/cancel`);
    gate.open();
    assertEquals((await ask(second, "k")).status, 200); // another run has the places
    assertEquals(gate.asked.length, 16 + 2);
  },
});
