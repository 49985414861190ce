import { assertEquals, assertStringIncludes } from "@std/assert";
import { startProcess } from "../fakes/service_process.ts";

Deno.test("a failure that nobody waited for is logged with its request, and survived", async () => {
  const script = new URL("../fakes/careless_service.ts", import.meta.url).pathname;
  await using service = await startProcess(["run", "-A", "--no-prompt", script], {});
  const get = async (path: string, id: string) => {
    const response = await fetch(service.url + path, { headers: { "x-request-id": id } });
    return await response.text();
  };
  await Promise.all([get("/", "other-1"), get("/forget", "the-one"), get("/", "other-2")]);
  while (!service.lines.some((line) => line.includes("forgotten"))) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const line = service.lines.find((line) => line.includes("forgotten")) ?? "";
  assertStringIncludes(line, '"request_id":"the-one"');
  assertEquals(await get("/", "later"), "ok");
});
