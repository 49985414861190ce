import { assertEquals } from "@std/assert";
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
// connections to PostgreSQL outlive a test
import { test } from "../../fakes/leaky.ts";

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
