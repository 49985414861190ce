import { assertEquals } from "@std/assert";
import { writeCursor } from "../../../../shared/http/cursor.ts";
import { callRoute, evalService } from "../../../fakes/eval_service.ts";
import { openSharedStore, postgresBin, startPostgres } from "../../../fakes/postgres_server.ts";
import { evaluateRequest, storedTurn } from "../../../fakes/stored_runs.ts";

const MOST = 2 ** 31 - 1;
const TOO_MUCH = 3_000_000_000;

/** By route, what is answered. A column of the type `integer` takes no more than `MOST`. */
const ANSWERS: Record<string, number> = {
  [`turns/${MOST}/${MOST}/${MOST}`]: 404,
  [`turns/0/1/${MOST}`]: 404,
  [`turns/0/1/${TOO_MUCH}`]: 400,
  [`turns/${MOST}/${MOST}/${MOST}/grades`]: 404,
  [`turns/0/1/${TOO_MUCH}/grades`]: 400,
  [`turns?scenario=${MOST}&attempt_id=${MOST}&turn=${MOST}`]: 200,
  [`turns?scenario=${TOO_MUCH}`]: 400,
  [`turns?attempt_id=${TOO_MUCH}`]: 400,
  [`turns?turn=${TOO_MUCH}`]: 400,
  [`turns?cursor=${writeCursor(["position", null, MOST, MOST, MOST])}`]: 200,
  [`turns?cursor=${writeCursor(["position", null, TOO_MUCH, 0, 0])}`]: 400,
  [`turns?sort=seq&cursor=${writeCursor(["seq", MOST, 0, 0, 0])}`]: 200,
  [`turns?sort=seq&cursor=${writeCursor(["seq", TOO_MUCH, 0, 0, 0])}`]: 400,
  [`scenarios?cursor=${writeCursor(["scenario", MOST])}`]: 200,
  [`scenarios?cursor=${writeCursor(["scenario", TOO_MUCH])}`]: 400,
  [`grades?cursor=${writeCursor([MOST, MOST, MOST, ""])}`]: 200,
  [`grades?cursor=${writeCursor([TOO_MUCH, 0, 0, ""])}`]: 400,
  [`grades?cursor=${writeCursor([0, TOO_MUCH, 0, ""])}`]: 400,
  [`grades?cursor=${writeCursor([0, 0, -TOO_MUCH, ""])}`]: 400,
};

Deno.test({
  name: "an integer that PostgreSQL cannot compare with is refused, and the largest is not",
  ignore: postgresBin === undefined,
  async fn() {
    await using server = await startPostgres();
    const { store } = await openSharedStore(await server.createDatabase());
    const { id } = await store.createRun({ request: evaluateRequest(), testName: "t" });
    await store.recordTurn(id, storedTurn([0, 0, 0]));
    await store.setStatus(id, { status: "completed", tally: "count" });
    const { service } = evalService(() => "", { store });
    const found: Record<string, number> = {};
    for (const path of Object.keys(ANSWERS)) {
      const response = await callRoute(service, `GET /runs/${id}/${path}`);
      await response.body?.cancel();
      found[path] = response.status;
    }
    assertEquals(found, ANSWERS);
    const events = await callRoute(service, `GET /runs/${id}/events`, {
      "last-event-id": String(TOO_MUCH),
    });
    assertEquals((await events.text()).includes("event:result"), true);
    await store.close();
  },
});
