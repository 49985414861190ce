import { assertEquals } from "@std/assert";
import { summariseConfig } from "../../../shared/ops/summary.ts";

const summarise = (config: Record<string, unknown>) =>
  summariseConfig(config, { defaults: { API_KEYS: [] }, isSecret: (name) => name.endsWith("S") });

Deno.test("keys are shown by their number, and API_KEYS=none as what it is", () => {
  assertEquals(summarise({ API_KEYS: ["ada:k1", "bob:k2"] }), { API_KEYS: "2 set" });
  assertEquals(summarise({ API_KEYS: ["none"] }), { API_KEYS: "none" });
  assertEquals(summarise({ API_KEYS: ["none", "ada:k1"] }), { API_KEYS: "1 set" });
  assertEquals(summarise({ API_KEYS: [] }), {});
});

Deno.test("credentials are shown by their origins", () => {
  const EVAL_CREDENTIALS = { "https://a.example": "k" };
  assertEquals(summarise({ EVAL_CREDENTIALS }), { EVAL_CREDENTIALS: "set for https://a.example" });
});
