import { assertEquals, assertStringIncludes } from "@std/assert";
import { parse } from "csv-parse/sync";
import { evalService, evaluateBody, evaluateWith } from "../../fakes/eval_service.ts";
import { readEvents } from "../../fakes/events.ts";

const { service } = evalService();
const turn = (id: string) => ({ id, user_message: id, reference_reply: "fine" });
const { run_id: id } = await evaluateWith(
  service,
  evaluateBody({
    attempts: 2,
    test_batch: ["s0", "s1"].map((id) => ({ id, interactions: [turn("t0"), turn("t1")] })),
  }),
);
/** The last turn of the last attempt at the last scenario. */
const PLACE = { scenario: 1, attempt_id: 2, turn: 1 };

const ask = (path: string, init?: RequestInit) =>
  service(new Request(`http://127.0.0.1:8080/runs/${id}${path}`, init));
const exported = async (format: string) =>
  await (await ask(`/export?format=${format}&bom=off`)).text();
/** A file names its scenarios by their ids. */
const numbersOf = ({ attempt_id, turn }: Record<string, unknown>) => ({
  attempt_id: Number(attempt_id),
  turn: Number(turn),
});
const placeOf = (row: Record<string, unknown>) => ({ scenario: row.scenario, ...numbersOf(row) });

Deno.test("scenarios and turns are counted from 0 and attempts from 1: in lists, events, exports and grades", async () => {
  const { turns } = await (await ask("/turns")).json();
  assertEquals(placeOf(turns.at(-1)), PLACE);
  assertEquals(placeOf(await (await ask("/turns/1/2/1")).json()), PLACE);

  const told = (await Array.fromAsync(readEvents(await ask("/events"))))
    .filter(({ event }) => event === "turn").map(({ data }) => placeOf(data));
  assertEquals(told.filter((place) => JSON.stringify(place) === JSON.stringify(PLACE)).length, 1);

  const line = (await exported("jsonl")).trim().split("\n").at(-1)!;
  assertEquals(numbersOf(JSON.parse(line)), numbersOf(PLACE));
  const rows = parse(await exported("csv"), { columns: true }) as Record<string, unknown>[];
  assertEquals(numbersOf(rows.at(-1)!), numbersOf(PLACE));

  const grade = { method: "PUT", body: JSON.stringify({ value: 1 }) };
  await ask("/turns/1/2/1/grade", { ...grade, headers: { "content-type": "application/json" } });
  const { grades } = await (await ask("/grades")).json();
  assertEquals(grades.map(placeOf), [PLACE]);
});

Deno.test("a turn that is named in words is counted from 1, as people do", async () => {
  assertStringIncludes(await exported("junit"), "turn 2: t1 (attempt 2)");
});
