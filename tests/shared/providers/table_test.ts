import { assertEquals } from "@std/assert";
import fc from "seeded-fast-check";
import { routeModel } from "../../../shared/providers/table.ts";

const UUID = "3fa85f64-5717-4562-b3fc-2c963f66afa6";

Deno.test("a UUID goes to the fine-tuned provider, whatever its version, variant and case", () => {
  const ids = [
    UUID,
    UUID.toUpperCase(),
    "00000000-0000-0000-0000-000000000000",
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
    "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
    "018f4e9b-7c1a-7b3e-9d52-0a1b2c3d4e5f",
    "018f4e9b-7c1a-8b3e-9d52-0a1b2c3d4e5f",
    "018f4e9b-7c1a-4b3e-1d52-0a1b2c3d4e5f",
  ];
  for (const id of ids) assertEquals(routeModel(id), { target: "studio", model: id });
});

Deno.test("<provider>/<model> goes to the hub, the whole value unchanged", () => {
  const ids = [
    "openai/gpt-4o",
    "a/b",
    "org/team/model:free",
    "Org/Model-7B@rev",
    "a//b",
    `${UUID}/x`,
    `x/${UUID}`,
  ];
  for (const id of ids) assertEquals(routeModel(id), { target: "hub", model: id });
});

Deno.test("any other value is routed nowhere", () => {
  const ids = [
    "",
    "gpt-4o",
    "/",
    "/model",
    "provider/",
    "3fa85f64-5717-4562-b3fc-2c963f66afa",
    `${UUID}0`,
    UUID.replaceAll("-", ""),
    `{${UUID}}`,
    `urn:uuid:${UUID}`,
    "ga85f64-5717-4562-b3fc-2c963f66afa6",
  ];
  for (const id of ids) assertEquals(routeModel(id), { target: null, model: id });
});

Deno.test("surrounding blanks are dropped", () => {
  assertEquals(routeModel(` ${UUID}\t`), { target: "studio", model: UUID });
  assertEquals(routeModel("  a/b "), { target: "hub", model: "a/b" });
  assertEquals(routeModel("   "), { target: null, model: "" });
});

Deno.test("every valid UUID goes to the fine-tuned provider", () => {
  fc.assert(fc.property(fc.uuid(), (id) => {
    assertEquals(routeModel(id).target, "studio");
  }));
});
