import { assertEquals } from "@std/assert";
import { z } from "zod";
import { commonVariables, parseConfig } from "../../../shared/config/config.ts";
import { parseCallerKeys } from "../../../shared/http/router/caller_keys.ts";
import { createService } from "../../../shared/http/server/service.ts";
import { about, routesOf } from "../../fakes/routes.ts";
import { createLogger } from "../../../shared/log.ts";

Deno.test("a key may have a name; one without is named by its position", () => {
  assertEquals(parseCallerKeys(["ada:secret", "plain", "ci.v2:a:b", ":x", "1a:b"]), [
    { name: "ada", key: "secret" },
    { name: "key-2", key: "plain" },
    { name: "ci.v2", key: "a:b" },
    { name: "key-4", key: ":x" },
    { name: "key-5", key: "1a:b" },
  ]);
});

Deno.test("the log names the caller for old and new keys, and contains neither", async () => {
  const lines: string[] = [];
  const log = createLogger({ level: "info", format: "json", write: (line) => lines.push(line) });
  const config = parseConfig(z.object(commonVariables), {
    API_KEYS: "ada:old-secret,ada:new-secret,bob:bobs-secret",
  });
  const service = createService(routesOf({ "GET /": () => new Response("ok") }), {
    about,
    config,
    log,
  });
  for (const key of ["old-secret", "new-secret", "bobs-secret", "ada:old-secret", "ada"]) {
    await service(
      new Request("http://127.0.0.1/", { headers: { authorization: `Bearer ${key}` } }),
    );
  }
  const seen = lines.map((line) => JSON.parse(line)).map(({ caller, status }) => [caller, status]);
  assertEquals(seen, [
    ["ada", 200],
    ["ada", 200],
    ["bob", 200],
    [undefined, 401],
    [undefined, 401],
  ]);
  assertEquals(lines.filter((line) => line.includes("secret")), []);
});
