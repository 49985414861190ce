import { assertEquals } from "@std/assert";
import type { GroupReport } from "../../../eval/groups/group_report.ts";
import { providerError } from "../../fakes/eval_ports.ts";
import { evalService, evaluateRequestOf } from "../../fakes/eval_service.ts";
import { readEvents } from "../../fakes/events.ts";
import { gatedTarget } from "../../fakes/gated_target.ts";
import { body, call, groupService, post, targetOf } from "../../fakes/group_service.ts";

Deno.test("respond-async answers with the group; it is listed, shown while it runs, cancelled and deleted", async () => {
  const gate = gatedTarget();
  const { service } = evalService(() => "", { target: gate.target });
  const { response, status, answer } = await post(service, { model_ids: ["a", "b"] }, {
    prefer: "respond-async",
  });
  const { group_id: id } = answer;
  assertEquals([status, response.headers.get("location")], [202, `/groups/${id}`]);
  assertEquals(answer.models.map(({ name, status }: GroupReport["models"][0]) => [name, status]), [
    ["a", "running"],
    ["b", "running"],
  ]);
  await gate.reached(2);
  const running = (await call(service, `GET /groups/${id}`)).answer;
  assertEquals(
    [running.status, running.pairs, running.models[0].scores, running.progress.total],
    ["running", null, null, 24],
  );
  assertEquals((await call(service, `DELETE /groups/${id}`)).status, 409);
  const { answer: { runs } } = await call(service, `GET /runs?group=${id}`);
  assertEquals(runs.map(({ group_id, name }: Record<string, string>) => [group_id, name]), [
    [id, "b"],
    [id, "a"],
  ]);
  const cancelled = await call(service, `POST /groups/${id}/cancel`);
  assertEquals([cancelled.status, cancelled.answer.status], [200, "cancelled"]);
  const { answer: { groups } } = await call(service, "GET /groups");
  assertEquals([groups.length, groups[0].group_id, groups[0].status], [1, id, "cancelled"]);
  assertEquals((await call(service, `DELETE /groups/${id}`)).status, 204);
  assertEquals((await call(service, `GET /groups/${id}`)).status, 404);
  assertEquals((await call(service, "GET /runs")).answer.runs, []);
});

Deno.test("a group that has completed cannot be cancelled", async () => {
  const { service } = groupService();
  const { answer: { group_id: id } } = await post(service, { model_ids: ["a", "b"] });
  const { status, answer } = await call(service, `POST /groups/${id}/cancel`);
  assertEquals([status, answer.detail], [409, `cannot cancel group ${id}: it is completed`]);
});

Deno.test("groups are listed page by page, newest first", async () => {
  const { service } = groupService();
  const ids: string[] = [];
  for (const name of ["one", "two", "three"]) {
    ids.unshift((await post(service, { model_ids: ["a"], test_name: name })).answer.group_id);
  }
  const first = (await call(service, "GET /groups?limit=2")).answer;
  const second = (await call(service, `GET /groups?limit=2&cursor=${first.next_cursor}`)).answer;
  const found = [...first.groups, ...second.groups].map(({ group_id }) => group_id);
  assertEquals([found, second.next_cursor], [ids, null]);
});

Deno.test("as events: progress of each model, then the same report", async () => {
  const { service } = groupService();
  const response = await service(
    evaluateRequestOf(body({ model_ids: ["a", "bad"] }), { accept: "text/event-stream" }),
  );
  const events = await Array.fromAsync(readEvents(response));
  const last = events.at(-1)!;
  assertEquals([events[0]!.event, last.event, last.id], ["progress", "result", "end"]);
  const report = last.data as GroupReport;
  const { answer } = await call(service, `GET /groups/${report.group_id}`);
  assertEquals(report, answer);
  const path = `http://127.0.0.1:8080/groups/${report.group_id}/events`;
  const again = await service(new Request(path));
  assertEquals((await Array.fromAsync(readEvents(again))).at(-1)!.data, answer);
  const seen = await service(new Request(path, { headers: { "last-event-id": "end" } }));
  assertEquals(seen.status, 204);
});

Deno.test("retrying a group asks again what failed in each run; costs count both times", async () => {
  let failing = ["b 3", "c 5", "c 6"];
  const { service, runs } = groupService({
    targetOf: (request) => ({
      ...targetOf(request),
      ask(conversation, signal) {
        const number = conversation.at(-1)!.content.replace("say ", "");
        if (failing.includes(`${request.model_id} ${number}`)) throw providerError(500);
        return targetOf(request).ask(conversation, signal);
      },
    }),
  });
  const { answer: first } = await post(service, { model_ids: ["a", "b", "c"] });
  assertEquals([first.status, first.progress.failed], ["completed", 3]);
  failing = [];
  const key = { "idempotency-key": "again" };
  const path = `POST /groups/${first.group_id}/retry`;
  const { status, answer: begun } = await call(service, path, key);
  assertEquals(status, 202);
  const idsOf = ({ models }: GroupReport) => models.map(({ run_id }) => run_id);
  assertEquals(idsOf(begun)[0], idsOf(first)[0], "nothing of it failed");
  for (const id of idsOf(begun)) await runs.active(id)?.ended;
  const report = (await call(service, `GET /groups/${first.group_id}`)).answer as GroupReport;
  assertEquals([report.status, report.progress.failed], ["completed", 0]);
  assertEquals(idsOf(report), idsOf(begun));
  assertEquals(report.models.map(({ cost }) => cost!.turns), [12, 12, 12]);
  assertEquals(report.models.map(({ usage }) => usage!.input_tokens), [60, 60, 60]);
  assertEquals((await call(service, `GET /runs?group=${first.group_id}`)).answer.runs.length, 5);

  assertEquals(idsOf((await call(service, path, key)).answer), idsOf(begun), "the same request");
  const again = await call(service, path);
  assertEquals([again.status, again.answer.code], [409, "conflict"]);
  const other = await post(service, { model_ids: ["a", "b"] });
  const reused = await call(service, `POST /groups/${other.answer.group_id}/retry`, key);
  assertEquals([reused.status, reused.answer.code], [422, "idempotency_key_reused"]);
  assertEquals((await call(service, "POST /groups/none/retry")).status, 404);
});
