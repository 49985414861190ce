import { assert, assertEquals, assertRejects } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { exportFormats } from "../../../eval/export/export_formats.ts";
import { openStore } from "../../../eval/store/open_store.ts";
import type { RunStore } from "../../../eval/store/store.ts";
import { evalService } from "../../fakes/eval_service.ts";
import { evaluateRequest, storedTurn } from "../../fakes/stored_runs.ts";

/** Part of a result must never look like a complete one, on any route. */

const TURNS = 600;
const ROADS = (id: string) => [
  `/runs/${id}`,
  `/runs/${id}/events`,
  ...exportFormats.map(({ name }) => `/runs/${id}/export?format=${name}`),
];

async function withRun(
  test: (run: { store: RunStore; id: string; path: string }) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/eval.db`;
  const store = await openStore({ path });
  try {
    const request = evaluateRequest({ attempts: TURNS });
    const { id } = await store.createRun({ request, testName: "t" });
    await Promise.all(
      Array.from(
        { length: TURNS },
        (_, attempt) =>
          store.recordTurn(id, storedTurn([0, attempt, 0], { agent_reply: "x".repeat(2000) })),
      ),
    );
    await store.setStatus(id, { status: "completed", tally: await store.tally(id) });
    await test({ store, id, path });
  } finally {
    await store.close();
    await Deno.remove(folder, { recursive: true });
  }
}

const get = (service: (request: Request) => Promise<Response>, path: string) =>
  service(new Request(`http://127.0.0.1:8080${path}`));

Deno.test("a run that is deleted while it is read is answered completely", () =>
  withRun(async ({ store, id }) => {
    const { service } = evalService(() => "", { store });
    const bodies = await Promise.all(
      ROADS(id).map(async (road) => {
        const response = await get(service, road);
        assertEquals(response.status, 200, road);
        const reader = response.body!.getReader();
        return { road, reader, first: await reader.read() };
      }),
    );
    assertEquals((await get(service, `/runs/${id}`)).status, 200);
    const deleted = await service(
      new Request(`http://127.0.0.1:8080/runs/${id}`, { method: "DELETE" }),
    );
    assertEquals(deleted.status, 204);
    assertEquals((await get(service, `/runs/${id}`)).status, 404);
    for (const { road, reader, first } of bodies) {
      let text = new TextDecoder().decode(first.value);
      const read = async () => {
        for (let next = await reader.read(); !next.done; next = await reader.read()) {
          text += new TextDecoder().decode(next.value);
        }
      };
      // The run no longer exists, so there is no last event: the stream is cut off.
      if (road.endsWith("/events")) await assertRejects(read, Error, "was deleted");
      else await read();
      if (road.includes("markdown")) continue;
      const attempts = text.match(/reply 0\.|x{2000}|<testcase /g)?.length ?? 0;
      assertEquals(attempts, TURNS, road);
    }
  }));

Deno.test("an incomplete run is cut off or refused on every route, never shown as complete", () =>
  withRun(async ({ store, id, path }) => {
    const other = new DatabaseSync(path);
    other.prepare("delete from turns where run_id = ? and attempt >= 400").run(id);
    other.close();
    const { service } = evalService(() => "", { store });
    for (const road of [...ROADS(id), `/runs/compare?baseline=${id}&candidate=${id}`]) {
      const outcome = await get(service, road).then(
        async (response) => response.status === 200 ? await response.text() : response.status,
      ).catch((error: Error) => error.name);
      assert(outcome === "IncompleteRead" || outcome === 500, `${road}: ${outcome}`);
    }
  }));
