import { assertEquals } from "@std/assert";
import { createHubModels } from "../../../agent/models/hub_models.ts";
import { silentLogger } from "../../../shared/log.ts";
import { never } from "../../fakes/scripted_provider.ts";

const log = silentLogger;

Deno.test("the hub is asked for its models once a minute, and those it cannot be asked for are left out", async () => {
  let asked = 0;
  let time = 1_000_000;
  const list = createHubModels({
    listModels: () => {
      asked++;
      return Promise.resolve([{ id: "a/b", name: "B" }, { id: "plain", name: "P" }]);
    },
  }, { log, now: () => time });
  assertEquals(await Promise.all([list(), list()]), [
    [{ id: "a/b", name: "B" }],
    [{ id: "a/b", name: "B" }],
  ]);
  assertEquals(asked, 1);
  time += 60_000;
  await list();
  assertEquals(asked, 2);
});

Deno.test("a hub that lists nothing is an empty list, and one that stops keeps its last", async () => {
  let isDown = true;
  let time = 1_000_000;
  const list = createHubModels({
    listModels: () =>
      isDown ? Promise.reject(new Error("404")) : Promise.resolve([{ id: "a/b", name: "B" }]),
  }, { log, now: () => time });
  assertEquals(await list(), []);
  isDown = false;
  time += 60_000;
  assertEquals((await list()).length, 1);
  isDown = true;
  time += 60_000;
  assertEquals((await list()).length, 1);
});

Deno.test("a caller that leaves does not wait for the list", async () => {
  const list = createHubModels({ listModels: () => never() }, { log });
  const controller = new AbortController();
  const waiting = list(controller.signal).catch(() => "left");
  controller.abort();
  assertEquals(await waiting, "left");
});
