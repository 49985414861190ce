import { assertEquals, assertRejects } from "@std/assert";
import { createLazyProvider } from "../../../agent/models/models.ts";
import { createScriptedProvider } from "../../fakes/scripted_provider.ts";

const REQUEST = { model: "a/b", messages: [] };

function lazy(failures = 0) {
  let created = 0;
  const scripted = {
    ...createScriptedProvider({ content: "Hi" }),
    listModels: () => Promise.resolve([]),
  };
  const provider = createLazyProvider("hub", () => {
    if (created++ < failures) return Promise.reject(new Error("no code"));
    return Promise.resolve(scripted);
  });
  return { provider, created: () => created };
}

Deno.test("a provider is created once, by the first call of any kind", async () => {
  const { provider, created } = lazy();
  assertEquals([provider.name, created()], ["hub", 0]);
  const first = await Promise.all([
    provider.complete(REQUEST),
    Array.fromAsync(provider.stream(REQUEST)),
    provider.listModels(),
    provider.load(),
  ]);
  assertEquals([first[0].content, first[1].length, first[2]], ["Hi", 2, []]);
  assertEquals((await Array.fromAsync(provider.stream(REQUEST))).at(-1)?.type, "reply");
  await provider.load();
  assertEquals(created(), 1);
});

Deno.test("creating a provider is tried again after a failure", async () => {
  const { provider, created } = lazy(1);
  await assertRejects(() => provider.load(), Error, "no code");
  assertEquals((await provider.complete(REQUEST)).content, "Hi");
  assertEquals(created(), 2);
});
