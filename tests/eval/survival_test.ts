import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import {
  batch,
  evaluate,
  lastEvent,
  lastMessage,
  startAsync,
  startEndpoint,
  storedTurns,
} from "../fakes/process_runs.ts";
import { completion, hang, startProviderDouble } from "../fakes/provider_double.ts";
import { startServiceProcess } from "../fakes/service_process.ts";
import { withFolder } from "../fakes/with_folder.ts";

/** What crosses a process is tested across a process: real kills of the real service. */

const CONCURRENCY = 8;
const KILLS = 12;

/** Two runs differ in their ids and times, and in nothing else. */
function withoutTimes(value: unknown): string {
  const hidden = ["run_id", "latency_ms", "execution_time_ms"];
  return JSON.stringify(value, (key, item) => hidden.includes(key) ? 0 : item);
}

/** Shows where two long results begin to differ: a list of all differences needs gigabytes. */
function assertSameResult(one: unknown, other: unknown): void {
  const [a, b] = [withoutTimes(one), withoutTimes(other)];
  const at = Math.max(0, [...a].findIndex((letter, index) => letter !== b[index]) - 200);
  if (a !== b) assertEquals(a.slice(at, at + 600), b.slice(at, at + 600));
}

Deno.test(`a run survives ${KILLS} kills at random times: each turn is asked once, and the result is that of an undisturbed run`, () =>
  withFolder(async (folder) => {
    const path = `${folder}/eval.db`;
    await using endpoint = await startEndpoint(() => Math.random() * 4);
    const environment = {
      EVAL_DATA: path,
      EVAL_CONCURRENCY: String(CONCURRENCY),
      LOG_LEVEL: "info",
    };
    const body = { test_batch: batch(180, 3), endpoint: endpoint.baseUrl, model_id: "m" };
    let id = "";
    let stored = new Set<string>();
    let lost = 0;

    for (let kill = 0; kill < KILLS; kill++) {
      const before = endpoint.requests.length;
      await using service = await startServiceProcess("eval", { environment });
      if (id === "") id = await startAsync(service, body);
      await endpoint.received(before + 1 + Math.floor(Math.random() * 20));
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
      service.kill("SIGKILL");
      await service.status;

      const storedNow = await storedTurns(path, id);
      const asked = endpoint.requests.slice(before).map(lastMessage);
      const again = asked.filter((turn) => stored.has(turn));
      assertEquals(again, [], `asked again before kill ${kill}, though they were stored`);
      assertEquals(
        new Set(asked).size,
        asked.length,
        `asked twice in one life, before kill ${kill}`,
      );
      stored = storedNow;
      // Per conversation, one turn may be asked while the one before it is being stored.
      const inFlight = asked.filter((turn) => !stored.has(turn)).length;
      assert(inFlight <= 2 * CONCURRENCY, `${inFlight} turns were lost by kill ${kill}`);
      lost += inFlight;
    }

    const before = endpoint.requests.length;
    await using service = await startServiceProcess("eval", { environment });
    const survivor = await lastEvent(service, id);
    assertEquals(survivor.event, "result");
    assertEquals(endpoint.requests.length, 180 * 3 + lost);
    assert(before > 0 && lost > 0, "the kills came when nothing was under way");
    const undisturbed = await (await evaluate(service, body)).json();
    assertSameResult(survivor.data, undisturbed);
    assertEquals(undisturbed.results.average_scores.exact_match, 1);
  }));

Deno.test("SIGTERM during a run loses nothing: the current turns are stored, and the next process asks the rest", () =>
  withFolder(async (folder) => {
    await using endpoint = await startEndpoint(() => 20);
    const environment = { EVAL_DATA: `${folder}/eval.db`, EVAL_CONCURRENCY: "4" };
    const body = { test_batch: batch(40, 2), endpoint: endpoint.baseUrl, model_id: "m" };
    await using first = await startServiceProcess("eval", { environment });
    const id = await startAsync(first, body);
    await endpoint.received(10);
    first.kill("SIGTERM");
    assertEquals((await first.status).code, 0);
    const stored = await storedTurns(environment.EVAL_DATA, id);
    assertEquals(stored.size, endpoint.requests.length);
    assert(stored.size < 80, "the run was over before the signal");
    await using second = await startServiceProcess("eval", { environment });
    assertEquals((await lastEvent(second, id)).event, "result");
    assertEquals(endpoint.requests.length, 80);
  }));

for (const accept of ["application/json", "text/event-stream"]) {
  Deno.test(`after the grace period of SIGTERM a client of ${accept} learns its run's address, and the next process finishes the run`, () =>
    withFolder(async (folder) => {
      const slow = Promise.withResolvers<void>();
      let answered = 0;
      await using endpoint = await startProviderDouble(async (request) => {
        if (answered++ >= 6) await slow.promise;
        const turns = (request.body.messages.length - 1) / 2;
        return completion({ content: `${lastMessage(request)} after ${turns} turns` })(request);
      });
      const environment = {
        EVAL_DATA: `${folder}/eval.db`,
        EVAL_CONCURRENCY: "2",
        SHUTDOWN_GRACE_MS: "50",
        MODEL_RETRIES: "0",
      };
      const body = { test_batch: batch(10, 2), endpoint: endpoint.baseUrl, model_id: "m" };
      const headers = { accept, "idempotency-key": "nightly" };
      await using first = await startServiceProcess("eval", { environment });
      const waiting = evaluate(first, body, { headers });
      await endpoint.received(8);
      first.kill("SIGTERM");
      const response = await waiting;
      const text = await response.text();
      const id = /^\/runs\/(.+)$/.exec(response.headers.get("location") ?? "")?.[1] ?? "";
      if (accept === "application/json") {
        assertEquals([response.status, JSON.parse(text).code], [503, "shutting_down"]);
        assertEquals(response.headers.get("connection"), "close");
      } else assertMatch(text, /event:stopping\nretry:\d+\ndata:.*"status":"running".*\n\n$/);
      assertEquals((await first.status).code, 0);

      const stored = await storedTurns(environment.EVAL_DATA, id);
      const asked = endpoint.requests.length;
      slow.resolve();
      await using second = await startServiceProcess("eval", { environment });
      const lastId = [...text.matchAll(/^id:(\d+)$/gm)].at(-1)?.[1];
      const events = await fetch(`${second.url}/runs/${id}/events`, {
        headers: lastId === undefined ? {} : { "last-event-id": lastId },
      });
      const told = [...(await events.text()).matchAll(/^id:(\d+)$/gm)].map(([, seq]) =>
        Number(seq)
      );
      assertEquals(told[0], Number(lastId ?? 0) + 1);
      assertEquals(told.at(-1), 20);
      const again = endpoint.requests.slice(asked).map(lastMessage);
      assertEquals(again.filter((turn) => stored.has(turn)), [], "asked again, though stored");
      assertEquals(stored.size + again.length, 20);
      const replay =
        await (await evaluate(second, body, { headers: { ...headers, accept: "*/*" } }))
          .json();
      assertEquals([replay.run_id, replay.message], [id, "Evaluation completed successfully"]);
      assertEquals(endpoint.requests.length, asked + again.length);
    }));
}

Deno.test("if the port is in use, no call is made and no run changes: runs start after the port is open", () =>
  withFolder(async (folder) => {
    await using endpoint = await startProviderDouble([completion(), hang()]);
    const environment = { EVAL_DATA: `${folder}/eval.db`, SHUTDOWN_GRACE_MS: "50" };
    await using first = await startServiceProcess("eval", { environment });
    const body = { test_batch: batch(3, 1), endpoint: endpoint.baseUrl, model_id: "m" };
    await startAsync(first, body);
    await endpoint.received(3);
    first.kill("SIGTERM");
    await first.status;
    using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const failure = await startServiceProcess("eval", {
      environment: { ...environment, EVAL_PORT: String(taken.addr.port) },
    }).then(() => "it started", (error: Error) => error.message);
    assertStringIncludes(failure, "the port is in use");
    assertEquals(endpoint.requests.length, 3);
  }));

Deno.test("with EVAL_RESUME=off a killed run is interrupted, and no call is made", () =>
  withFolder(async (folder) => {
    await using endpoint = await startEndpoint(() => 20);
    const environment = { EVAL_DATA: `${folder}/eval.db`, EVAL_CONCURRENCY: "4" };
    const body = { test_batch: batch(40, 2), endpoint: endpoint.baseUrl, model_id: "m" };
    await using first = await startServiceProcess("eval", { environment });
    const id = await startAsync(first, body);
    await endpoint.received(10);
    first.kill("SIGKILL");
    await first.status;
    const { size } = await storedTurns(environment.EVAL_DATA, id);
    const asked = endpoint.requests.length;
    await using second = await startServiceProcess("eval", {
      environment: { ...environment, EVAL_RESUME: "off" },
    });
    const read = async () => await (await fetch(`${second.url}/runs/${id}`)).json();
    let run = await read();
    // It is marked after the port is open.
    for (let reads = 1; run.status === "running" && reads < 1000; reads++) run = await read();
    assertEquals([run.status, run.progress.done], ["interrupted", size]);
    assertEquals(endpoint.requests.length, asked);
  }));

for (const accept of ["application/json", "text/event-stream"]) {
  Deno.test(`a run goes on after a client has left its request for ${accept}`, () =>
    withFolder(async (folder) => {
      await using endpoint = await startEndpoint(() => 20);
      await using service = await startServiceProcess("eval", {
        environment: { EVAL_DATA: `${folder}/eval.db`, EVAL_CONCURRENCY: "2" },
      });
      const client = new AbortController();
      const body = { test_batch: batch(40, 1), endpoint: endpoint.baseUrl, model_id: "m" };
      const answer = evaluate(service, body, { signal: client.signal, headers: { accept } });
      await endpoint.received(8);
      client.abort();
      await answer.then((response) => response.text()).catch(() => {});
      const { runs: [run] } = await (await fetch(`${service.url}/runs`)).json();
      assertEquals((await lastEvent(service, run.run_id)).event, "result");
      assertEquals(endpoint.requests.length, 40);
      assertEquals((await storedTurns(`${folder}/eval.db`, run.run_id)).size, 40);
    }));
}

Deno.test("a grade that was answered survives a kill", () =>
  withFolder(async (folder) => {
    await using endpoint = await startEndpoint(() => 0);
    const environment = { EVAL_DATA: `${folder}/eval.db` };
    let id: string;
    {
      await using service = await startServiceProcess("eval", { environment });
      const body = { test_batch: batch(1, 1), endpoint: endpoint.baseUrl, model_id: "m" };
      ({ run_id: id } = await (await evaluate(service, body)).json());
      const put = (value: number) =>
        fetch(`${service.url}/runs/${id}/turns/0/1/0/grade`, {
          method: "PUT",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ value, author: "ann" }),
        });
      for (const value of [0.2, 0.9]) assertEquals((await (await put(value)).json()).value, value);
      service.kill("SIGKILL");
    }
    await using service = await startServiceProcess("eval", { environment });
    const { grades } = await (await fetch(`${service.url}/runs/${id}/turns/0/1/0/grades`)).json();
    assertEquals(grades.map(({ value }: { value: number }) => value), [0.9]);
  }));
