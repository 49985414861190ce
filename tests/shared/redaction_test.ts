import { assertEquals } from "@std/assert";
import {
  createRedactor,
  isSecretVariable,
  listSecrets,
  partsOfQuery,
} from "../../shared/redaction.ts";

Deno.test("a long text without an address is read once", () => {
  const text = "a.".repeat(500_000); // looking for the end of a scheme at each letter: an hour
  assertEquals(createRedactor([])(text), text);
});

Deno.test("an address loses its user, query and fragment, whatever its scheme", () => {
  const redact = createRedactor([]);
  assertEquals(
    redact("ask git+ssh://me:pass@host/a?key=1#top and https://b/c?d"),
    "ask git+ssh://host/a and https://b/c",
  );
});

Deno.test("a secret is removed as it is, within JSON and within an address", () => {
  const redact = createRedactor(['pa"ss/1 x']);
  assertEquals(redact('it is pa"ss/1 x'), "it is [secret]");
  assertEquals(redact(JSON.stringify({ key: 'pa"ss/1 x' })), '{"key":"[secret]"}');
  assertEquals(redact(`/path/${encodeURIComponent('pa"ss/1 x')}`), "/path/[secret]");
});

Deno.test("of two secrets the longer is removed whole; those of fewer than six characters stay", () => {
  const redact = createRedactor(["secret", "secret-of-ann", "short"]);
  assertEquals(redact("secret-of-ann, secret, short"), "[secret], [secret], short");
});

Deno.test("the secrets of a configuration are its keys, each also without its name, and its passwords", () => {
  const secrets = listSecrets({
    API_KEYS: ["ann:planted-a", "planted-b"],
    EVAL_CREDENTIALS: { "https://a.example": "planted-c" },
    STUDIO_API_KEY: undefined,
    HUB_BASE_URL: "https://ann:plant%65d-d@b.example/v1",
    JUDGE_BASE_URL: "https://c.example/v1?api-version=2026-01&api_key=plant%65d-e",
    EVAL_DATA: "eval.db",
    MODEL: "not:secret",
  });
  assertEquals(
    new Set(secrets.filter(Boolean)),
    new Set([
      "ann:planted-a",
      "planted-a",
      "planted-b",
      "planted-c",
      "plant%65d-d",
      "planted-d",
      "plant%65d-e",
      "planted-e",
    ]),
  );
  const names = ["HUB_API_KEY", "API_KEYS", "A_TOKEN", "A_SECRET", "A_PASSWORD", "A_CREDENTIALS"];
  assertEquals([...names, "KEYS", "A_KEY_FILE"].filter(isSecretVariable), names);
});

Deno.test("the query of an address is removed as it is, and by its parameters and values", () => {
  const redact = createRedactor(
    partsOfQuery("https://a.example/v1?key=plant%2fed+a&n=1234&planted-b"),
  );
  const said = (text: string) => redact(`no route for /v1/chat?${text}`);
  for (
    const text of [
      "key=plant%2fed+a&n=1234&planted-b",
      "key=plant%2fed+a",
      "n=1234",
      "planted-b",
    ]
  ) assertEquals(said(text), "no route for /v1/chat?[secret]");
  assertEquals(redact("plant/ed a, plant/ed+a, plant%2Fed%20a"), "[secret], [secret], [secret]");
  assertEquals(redact("the key is not 1234"), "the key is not 1234");
  const odd = createRedactor(partsOfQuery("https://a.example/v1?key=a%2zb%41secret"));
  assertEquals(odd("a%2zbAsecret and a%2zb%41secret"), "[secret] and [secret]");
  assertEquals(createRedactor(partsOfQuery("https://a.example/v1"))("as it is"), "as it is");
});
