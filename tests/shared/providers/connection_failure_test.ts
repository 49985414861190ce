import {
  assertEquals,
  assertInstanceOf,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { type AddressInfo, createServer } from "node:net";
import { diagnoseConnection } from "../../../shared/providers/diagnosis.ts";
import { ProviderError, type ProviderFailure } from "../../../shared/providers/provider.ts";
import { startSelfSignedServer } from "../../fakes/self_signed_server.ts";
import { failure, providerOf, REQUEST, WAYS } from "../../fakes/openai_provider.ts";
import { completion, partial, type ProviderDouble } from "../../fakes/provider_double.ts";

/** A loopback port that nobody listens on. */
function closedPort(): string {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return `http://127.0.0.1:${port}/v1`;
}

const UNREACHABLE: Record<string, [(double: ProviderDouble) => string, why: string, RegExp]> = {
  "refuses the connection": [() => closedPort(), "refused", /the connection was refused/],
  "has no address": [() => "http://nobody.invalid/v1", "dns", /cannot be resolved \(DNS\)$/],
  "does not speak TLS": [
    ({ baseUrl }) => baseUrl.replace("http:", "https:"),
    "tls",
    /the TLS handshake failed$/,
  ],
  "has a port of another protocol": [
    () => "http://127.0.0.1:6666/v1",
    "blocked_port",
    /port is reserved/,
  ],
};
for (const [what, [address, why, reason]] of Object.entries(UNREACHABLE)) {
  for (const way of ["complete", "stream", "listModels"] as const) {
    Deno.test(`${way}: a provider that ${what} is unreachable`, async () => {
      const error = await failure(
        completion(),
        (double) => WAYS[way](providerOf({ baseUrl: address(double) })),
      );
      assertEquals([error.status, error.code], [502, "provider_error"]);
      assertEquals<unknown>(error.failure, { kind: "unreachable", why });
      assertMatch(error.message, reason);
      assertInstanceOf(error.cause, Error);
    });
  }
}

Deno.test("a self-signed certificate is reported as such, with the variable that helps", async () => {
  await using server = await startSelfSignedServer();
  const error = await assertRejects(() => providerOf(server).complete(REQUEST), ProviderError);
  assertEquals(error.failure, { kind: "unreachable", why: "untrusted" });
  assertStringIncludes(error.message, "self-signed or of an unknown CA; set DENO_CERT");
});

const NODE_ERRORS: [code: string, failure: ProviderFailure][] = [
  ["ECONNREFUSED", { kind: "unreachable", why: "refused" }],
  ["ENOTFOUND", { kind: "unreachable", why: "dns" }],
  ["EAI_AGAIN", { kind: "unreachable", why: "dns" }],
  ["EHOSTUNREACH", { kind: "unreachable", why: "route" }],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", { kind: "unreachable", why: "untrusted" }],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", { kind: "unreachable", why: "untrusted" }],
  ["CERT_HAS_EXPIRED", { kind: "unreachable", why: "expired" }],
  ["ERR_TLS_CERT_ALTNAME_INVALID", { kind: "unreachable", why: "other_name" }],
  ["EPROTO", { kind: "unreachable", why: "tls" }],
  ["ECONNRESET", { kind: "interrupted", why: "reset" }],
  ["ETIMEDOUT", { kind: "timeout" }],
  ["UND_ERR_SOCKET", { kind: "interrupted" }],
];
for (const [code, expected] of NODE_ERRORS) {
  Deno.test(`a socket's ${code} is ${Object.values(expected).join(", ")}`, () => {
    const cause = Object.assign(new Error("socket"), { code });
    assertEquals(diagnoseConnection(new TypeError("fetch failed", { cause })), expected);
  });
}

Deno.test("a connection that is reset before the answer was reset", async () => {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.resetAndDestroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const error = await assertRejects(() => providerOf({ baseUrl }).complete(REQUEST), ProviderError);
  assertEquals(error.failure, { kind: "interrupted", why: "reset" });
  assertStringIncludes(error.message, "the connection was reset");
  await new Promise((resolve) => server.close(resolve));
});

Deno.test("a connection that is closed inside the body was interrupted", async () => {
  const answer = partial(['{"choices": ['], { end: "cut" });
  const error = await failure(answer, (double) => providerOf(double).complete(REQUEST));
  assertEquals([error.status, error.code], [502, "provider_error"]);
  assertEquals(error.failure, { kind: "interrupted" });
});

Deno.test("a connection that is reset while it is made is not an address that cannot be reached", async () => {
  const server = createServer((socket) => socket.resetAndDestroy());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const error = await assertRejects(() => fetch(`https://127.0.0.1:${port}`));
    assertEquals(diagnoseConnection(error), { kind: "interrupted", why: "reset" });
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});

Deno.test("a connection that takes too long to make is a timeout", () => {
  const message = "error sending request for url (https://host/): client error (Connect): " +
    "tcp connect error: Connection timed out (os error 110)";
  assertEquals(diagnoseConnection(new TypeError(message)), { kind: "timeout" });
});
