import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { startProcess } from "../fakes/service_process.ts";
import { until } from "../fakes/until.ts";

Deno.test("an unhandled promise rejection is logged with its request, and the service keeps running", async () => {
  const script = new URL("../fakes/careless_service.ts", import.meta.url).pathname;
  await using service = await startProcess(["run", "-A", "--no-prompt", script], {});
  const ask = async (path: string, id: string, method = "GET") => {
    const response = await fetch(service.url + path, { method, headers: { "x-request-id": id } });
    return await response.text();
  };
  await Promise.all([
    ask("/", "other-1"),
    ask("/forget", "the-one", "POST"),
    ask("/", "other-2"),
  ]);
  const forgotten = () =>
    service.lines.find((line) => line.includes("unhandled promise rejection"));
  await until(() => forgotten());
  const line = forgotten() ?? "";
  assertStringIncludes(line, '"request_id":"the-one"');
  assertEquals(await ask("/", "later"), "ok");
});

Deno.test("an answer whose body fails is logged with its request, and the client sees that it is incomplete", async () => {
  const script = new URL("../fakes/careless_service.ts", import.meta.url).pathname;
  await using service = await startProcess(["run", "-A", "--no-prompt", script], {});
  async function ask(route: string) {
    const headers = { "x-request-id": `id-of-${route}` };
    const init = { method: "POST", headers, body: "x" };
    return await (await fetch(`${service.url}/${route}`, init)).text();
  }
  for (const route of ["break", "break-later"]) await assertRejects(() => ask(route));
  for (const route of ["break", "break-later"]) {
    const isIts = (line: string) => line.includes(`"request_id":"id-of-${route}","error"`);
    await until(() => service.lines.some(isIts));
    assertStringIncludes(service.lines.find(isIts) ?? "", '"message":"an answer was cut"');
  }
});
