import { assertEquals, assertThrows } from "@std/assert";
import { createRouteTable } from "../../../shared/http/router/route_table.ts";

function tableOf(...keys: string[]) {
  const find = createRouteTable(keys.map((key) => {
    const [method = "", path = ""] = key.split(" ");
    return { key, method, path };
  }));
  return (method: string, path: string) => {
    const { route, params, allowed } = find(method, path);
    return { key: route?.key, params, allowed };
  };
}

Deno.test("the most exact path wins, in whatever order the routes are listed", () => {
  const keys = ["GET /runs/*", "GET /runs/:id", "GET /runs/compare", "GET /runs/:id/events"];
  for (const listed of [keys, keys.toReversed()]) {
    const find = tableOf(...listed);
    assertEquals(find("GET", "/runs/compare").key, "GET /runs/compare");
    assertEquals(find("GET", "/runs/7").key, "GET /runs/:id");
    assertEquals(find("GET", "/runs/7/events").key, "GET /runs/:id/events");
    assertEquals(find("GET", "/runs/7/other").key, "GET /runs/*");
  }
});

Deno.test("a prefix takes everything below it, and says what that is", () => {
  const find = tableOf("GET /assets/*", "GET /models/*id", "GET /a.b/:x/:y");
  assertEquals(find("GET", "/models/acme/large").params, { id: "acme/large" });
  assertEquals(find("GET", "/assets/js/app.js").params, { rest: "js/app.js" });
  assertEquals(find("GET", "/a.b/1/%20").params, { x: "1", y: "%20" });
  for (const path of ["/assets", "/assets/", "/other/assets/x", "/aXb/1/2", "/a.b/1", "/a.b/1/"]) {
    assertEquals(find("GET", path), { key: undefined, params: {}, allowed: [] }, path);
  }
});

Deno.test("HEAD finds the route of GET, and no other method's", () => {
  const find = tableOf("GET /a", "POST /b", "GET /c/:id");
  assertEquals(find("HEAD", "/a").key, "GET /a");
  assertEquals(find("HEAD", "/c/1").key, "GET /c/:id");
  assertEquals(find("HEAD", "/b"), { key: undefined, params: {}, allowed: ["POST"] });
});

Deno.test("another method of a path is not found, and the path's own methods are listed", () => {
  const find = tableOf("GET /runs/compare", "DELETE /runs/:id", "POST /runs/compare");
  assertEquals(find("PUT", "/runs/compare").allowed, ["GET", "POST", "DELETE"]);
  assertEquals(find("DELETE", "/runs/compare").key, "DELETE /runs/:id");
});

Deno.test("a table with a duplicate or an unsupported path is refused", () => {
  assertThrows(() => tableOf("GET /a", "GET /a"), Error, "two routes are GET /a");
  assertThrows(() => tableOf("GET /a/x-:id"), Error, '"x-:id"');
  assertThrows(() => tableOf("GET /a/*/b"), Error, '"*"');
});
