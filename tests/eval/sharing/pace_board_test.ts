import { assertEquals } from "@std/assert";
import { createEndpointPaces } from "../../../eval/endpoint/pace.ts";

Deno.test("a limit that one process had to lower is lowered in the others, and grows again there", async () => {
  const listeners: ((origin: string, limit: number) => void)[] = [];
  const told: [string, number][] = [];
  const board = {
    tell(origin: string, limit: number) {
      told.push([origin, limit]);
      listeners.forEach((listener) => listener(origin, limit));
    },
    listen: (_: unknown, onLowered: (origin: string, limit: number) => void) =>
      void listeners.push(onLowered),
  };
  const [here, there] = [createEndpointPaces(16, board), createEndpointPaces(16, board)];
  const endpoint = "https://model.example/v1";
  const [own, other] = [here(endpoint), there(endpoint)];
  const elsewhere = there("https://other.example/v1");
  const { signal } = new AbortController();
  const permit = await own.acquire(signal);
  await permit.run(() => Promise.reject(new Error("429")), () => true).catch(() => {});
  assertEquals(told, [["https://model.example", 8]]);
  assertEquals([own.limit, other.limit, elsewhere.limit], [8, 8, 16]);
  await (await other.acquire(signal)).run(() => Promise.resolve(), () => false);
  assertEquals([own.limit, other.limit], [8, 8 + 1 / 8]);
  other.lower(12); // an old one
  assertEquals(other.limit, 8 + 1 / 8);
});

Deno.test("the limits of an endpoint are read while it is called, and not afterwards", async () => {
  let origins: () => Iterable<string> = () => [];
  const paces = createEndpointPaces(16, {
    tell() {},
    listen: (used) => void (origins = used),
  });
  paces("https://idle.example/v1");
  const called = paces("https://model.example/v1");
  const permit = await called.acquire(new AbortController().signal);
  const answer = Promise.withResolvers<void>();
  const call = permit.run(() => answer.promise, () => false);
  assertEquals([...origins()], ["https://model.example"]);
  answer.resolve();
  await call;
  assertEquals([...origins()], []);
});
