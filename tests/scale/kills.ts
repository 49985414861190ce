import { assert, assertEquals } from "@std/assert";
import { postgresBin, startPostgres } from "../fakes/postgres_server.ts";
import { startCountingEndpoint } from "./counting_endpoint.ts";
import { awaitEnd, batchOf, readRun, startInstances, startRun } from "./instances.ts";
import { readFigures } from "./stored.ts";

const KILLS = 20;
const CONCURRENCY = 8;
const CONVERSATIONS = 120;
const TURNS = 2;
const BETWEEN_MS = 1_500;

Deno.test({
  name: "twenty kills at random moments lose no turn, repeat none and leave no run behind",
  ignore: postgresBin === undefined,
  async fn() {
    await using server = await startPostgres();
    const address = await server.createDatabase();
    await using endpoint = startCountingEndpoint({ latencyMs: 100 });
    await using instances = await startInstances(3, {
      EVAL_DATA: address,
      EVAL_CONCURRENCY: String(CONCURRENCY),
    });
    const ids: string[] = [];
    const begin = async (index: number) => {
      const name = `run ${ids.length} c`;
      const body = batchOf(CONVERSATIONS, { turns: TURNS, endpoint: endpoint.url, name });
      ids.push(await startRun(instances.all[index]!, body));
    };
    await begin(0);
    await begin(1);

    for (let kill = 0; kill < KILLS; kill++) {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * BETWEEN_MS));
      const index = Math.floor(Math.random() * 3);
      instances.all[index]!.kill("SIGKILL");
      const other = (index + 1) % 3;
      const newest = await readRun(instances.all[other]!, ids.at(-1)!);
      if (newest && newest.status !== "running") await begin(other); // there is always work
      await instances.restart(index);
    }

    for (const id of ids) {
      const end = await awaitEnd(() => instances.all, id);
      assertEquals([end.status, end.progress.done], ["completed", CONVERSATIONS * TURNS]);
    }
    const all = ids.length * CONVERSATIONS * TURNS;
    const { turns, positions, seqs, orphans, statuses } = await readFigures(address);
    assertEquals({ turns, positions, seqs, orphans, statuses }, {
      turns: all,
      positions: all,
      seqs: all,
      orphans: 0,
      statuses: { completed: ids.length },
    });
    const repeated = endpoint.total - all;
    assert(repeated >= 0 && repeated <= KILLS * CONCURRENCY, `${repeated} calls were repeated`);
  },
});
