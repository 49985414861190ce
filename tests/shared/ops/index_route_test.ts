import { assertEquals } from "@std/assert";
import { createService } from "../../../shared/http/server/service.ts";
import { commonVariables, parseConfig } from "../../../shared/config/config.ts";
import { silentLogger } from "../../../shared/log.ts";
import { createIndexRoute } from "../../../shared/ops/index_route.ts";
import { about, routesOf } from "../../fakes/routes.ts";
import { z } from "zod";

Deno.test("GET / lists the routes by path and summary, or as the route says", async () => {
  const [first, second] = routesOf({
    "GET /things/:id": () => new Response(),
    "POST /things": () => new Response(),
  });
  const routes = [
    { ...first!, summary: "One thing", index: { query: "format=json" } },
    { ...second!, summary: "Create a thing", index: { text: "send {name}" } },
  ];
  const index = createIndexRoute(about, { routes, more: () => ({ tools: 2 }) });
  const config = parseConfig(z.object(commonVariables), {});
  const service = createService([index, ...routes], { about, config, log: silentLogger });
  const response = await service(new Request("http://127.0.0.1/"));
  assertEquals(await response.json(), {
    name: about.name,
    about: about.description,
    endpoints: { "GET /things/{id}?format=json": "one thing", "POST /things": "send {name}" },
    tools: 2,
  });
});
