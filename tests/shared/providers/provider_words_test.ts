import { assertEquals } from "@std/assert";
import fc from "seeded-fast-check";
import { readWords, startOf } from "../../../shared/providers/diagnosis.ts";
import { routeModel } from "../../../shared/providers/provider.ts";

const none = { type: null, code: null, param: null };

const BODIES: [shape: string, body: unknown, words: unknown][] = [
  [
    "OpenAI's",
    {
      error: { message: "Too long.", type: "invalid_request_error", code: "c", param: "messages" },
    },
    { message: "Too long.", type: "invalid_request_error", code: "c", param: "messages" },
  ],
  ["Ollama's", { error: "model requires more memory" }, {
    ...none,
    message: "model requires more memory",
  }],
  [
    "Gemini's",
    [{ error: { code: 400, message: "Missing a thought_signature.", status: "INVALID_ARGUMENT" } }],
    {
      ...none,
      message: "Missing a thought_signature.",
      type: "INVALID_ARGUMENT",
      code: "400",
    },
  ],
  [
    "Mistral's",
    {
      object: "error",
      message: { detail: [{ msg: "Field required" }] },
      type: "invalid",
      code: "1",
    },
    { ...none, message: '{"detail":[{"msg":"Field required"}]}', type: "invalid", code: "1" },
  ],
  ["FastAPI's", { detail: "Not so." }, { ...none, message: "Not so." }],
  ["a validator's", { detail: [{ loc: ["body"], msg: "required" }] }, {
    ...none,
    message: '[{"loc":["body"],"msg":"required"}]',
  }],
  ["Cloudflare's", { success: false, errors: [{ code: 7003, message: "No route." }] }, {
    ...none,
    message: "No route.",
    code: "7003",
  }],
  [
    "OpenRouter's",
    {
      error: {
        message: "Provider returned error",
        code: 400,
        metadata: {
          raw: '{"error":{"message":"Ids must be unique."}}',
          provider_name: "Anthropic",
        },
      },
    },
    { ...none, message: "Provider returned error: Ids must be unique.", code: "400" },
  ],
  ["a code alone", { error: { code: "moderation" } }, { ...none, message: "", code: "moderation" }],
  ["an empty object", {}, undefined],
  ["null", null, undefined],
];
for (const [shape, body, words] of BODIES) {
  Deno.test(`the words of an error are read in this shape: ${shape}`, () => {
    assertEquals<unknown>(readWords(JSON.stringify(body), String), words);
  });
}

Deno.test("plain text is the message; a page of HTML and half an object say nothing", () => {
  assertEquals(readWords("Bad\u0000 request\n", String), { ...none, message: "Bad request" });
  const lists = "[".repeat(20_000) + "]".repeat(20_000);
  for (const body of ["<html>", " <!doctype html>", '{"error": {"mess', "", "[1", "[[1]]", lists]) {
    assertEquals(readWords(body, String), undefined);
  }
});

Deno.test("words are redacted before they are cut, so that no half of a secret is left", () => {
  const secret = "s3cr3t-key-of-the-hub";
  const redact = (text: string) => text.replaceAll(secret, "[secret]");
  const message = "x".repeat(1990) + secret;
  const code = "y".repeat(195) + secret;
  const words = readWords(JSON.stringify({ error: { message, code } }), redact);
  assertEquals(words?.message, `${"x".repeat(1990)}[secret]`);
  const upstream = { error: { message: "", metadata: { raw: message } } };
  const { message: said = "" } = readWords(JSON.stringify(upstream), redact) ?? {};
  assertEquals(said.includes("s3cr"), false);
  assertEquals(words?.code, `${"y".repeat(195)}[sec…`);
});

Deno.test("no part of a long secret is shown of an answer that begins with it", () => {
  const secret = "0123456789".repeat(300);
  const redact = (text: string) => text.replaceAll(secret, "[secret]");
  assertEquals(startOf(`The key ${secret} is wrong.`, redact), "The key [secret] is wrong.");
});

Deno.test("no part of a secret is shown of an answer that is too long to be read to its end", () => {
  const secret = "0123456789".repeat(300);
  const redact = (text: string) => text.replaceAll(secret, "[secret]");
  const shown = startOf(`${secret} `.repeat(30), redact);
  assertEquals(shown, `${"[secret] ".repeat(21)}…`);
});

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
