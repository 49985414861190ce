import { assert, assertEquals } from "@std/assert";
import { createPublicFetch } from "../shared/http/public_fetch.ts";
import { completion, type ProviderDouble, startProviderDouble } from "./fakes/provider_double.ts";
import { type ServiceProcess, startServiceProcess } from "./fakes/service_process.ts";
// the client of public addresses has timers that outlive a test
import { test } from "./fakes/leaky.ts";

/**
 * Attacks on the evaluation service's credential. Each is first run without the protection, so that
 * the double gets the secret; then with it.
 */

const SECRET = "planted-eval-credential";

/** Fetches as a browser whose DNS answers 127.0.0.1 for every name. */
const toLoopback = createPublicFetch({
  resolve: () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]),
  isPublic: () => true,
});

async function attack(
  evaluation: ServiceProcess,
  endpoint: string,
  headers: Record<string, string> = {},
  send: typeof fetch = fetch,
): Promise<{ status: number; text: string }> {
  const response = await send(`${evaluation.url}/evaluate`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({
      test_batch: { id: "s", interactions: [{ id: "i", user_message: "Hello" }] },
      endpoint,
      model_id: "m",
    }),
  });
  return { status: response.status, text: await response.text() };
}

function startEval(environment: Record<string, string>): Promise<ServiceProcess> {
  return startServiceProcess("eval", {
    environment: { EVAL_API_KEY: SECRET, MODEL_RETRIES: "0", ...environment },
  });
}

function stolen({ requests }: ProviderDouble): boolean {
  return requests.some(({ headers }) => headers.get("authorization")?.includes(SECRET));
}

Deno.test("a caller who names an address of their own does not get the credential", async () => {
  await using thief = await startProviderDouble(completion());
  await using open = await startEval({});
  await attack(open, thief.baseUrl);
  assert(stolen(thief), "the attack does not work even where nothing stands against it");

  await using other = await startProviderDouble(completion());
  await using careful = await startEval({ EVAL_ENDPOINTS: "https://api.example.com" });
  const { status, text } = await attack(careful, other.baseUrl);
  assertEquals([status, JSON.parse(text).code], [403, "endpoint_not_allowed"]);
  assertEquals(other.requests.length, 0);
});

Deno.test("a page of another origin uses no stored credential, unless EVAL_ENDPOINTS names the endpoint", async (t) => {
  await using thief = await startProviderDouble(completion());
  const page = { origin: "http://localhost:3000" }; // one of the default CORS_ORIGINS
  const { origin } = new URL(thief.baseUrl);
  const own = { EVAL_CREDENTIALS: JSON.stringify({ [origin]: SECRET }), EVAL_API_KEY: "" };
  for (const [what, environment] of Object.entries({ shared: {}, "origin's own": own })) {
    await t.step(`the ${what} credential`, async () => {
      const asked = thief.requests.length;
      await using evaluation = await startEval(environment);
      const { status, text } = await attack(evaluation, thief.baseUrl, page);
      assertEquals([status, JSON.parse(text).code], [403, "endpoint_not_allowed"]);
      const listed = await fetch(
        `${evaluation.url}/models?endpoint=${encodeURIComponent(thief.baseUrl)}`,
        { headers: page },
      );
      assertEquals([listed.status, (await listed.json()).code], [403, "endpoint_not_allowed"]);
      assertEquals(thief.requests.length, asked);
      await attack(evaluation, thief.baseUrl, { origin: evaluation.url }); // its own page
      assert(thief.requests.length > asked && stolen(thief), "its own page is refused too");
    });
  }
  await t.step(
    "an endpoint that is named, and one without a credential, are evaluated",
    async () => {
      await using named = await startEval({ EVAL_ENDPOINTS: origin });
      assertEquals((await attack(named, thief.baseUrl, page)).status, 200);
      await using bare = await startEval({ EVAL_API_KEY: "" });
      assertEquals((await attack(bare, thief.baseUrl, page)).status, 200);
    },
  );
});

Deno.test("if any endpoint is allowed, this machine still is not, unless it is listed", async (t) => {
  const names = ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"];
  await using inside = await startProviderDouble(completion());
  const endpoints = names.map((name) => inside.baseUrl.replace("127.0.0.1", name));
  const origins = endpoints.map((endpoint) => new URL(endpoint).origin);
  const starting = [["*", ...origins], ["*"]].map((allowed) =>
    startEval({ EVAL_ENDPOINTS: allowed.join() })
  );
  await using listed = await starting[0]!;
  await using any = await starting[1]!;
  for (const [index, name] of names.entries()) {
    await t.step(name, async () => {
      const before = inside.requests.length;
      await attack(listed, endpoints[index]!);
      const reached = inside.requests.length;
      assert(reached > before || name.startsWith("["), "a listed origin is not reached");
      const { status, text } = await attack(any, endpoints[index]!);
      assertEquals([status, JSON.parse(text).code], [403, "endpoint_not_allowed"]);
      assertEquals(inside.requests.length, reached);
    });
  }
});

Deno.test("an endpoint that redirects elsewhere does not take the credential along", async () => {
  await using thief = await startProviderDouble(completion());
  const redirect = () =>
    new Response(null, { status: 307, headers: { location: `${thief.baseUrl}/chat/completions` } });
  await using endpoint = await startProviderDouble(redirect);

  // What a client that keeps its headers across redirects would do:
  const [first] = [await fetch(`${endpoint.baseUrl}/chat/completions`, { redirect: "manual" })];
  await first.body?.cancel();
  const authorization = `Bearer ${SECRET}`;
  await (await fetch(first.headers.get("location") ?? "", { headers: { authorization } })).text();
  assert(stolen(thief));

  await using evaluation = await startEval({ EVAL_ENDPOINTS: endpoint.origin });
  const { text } = await attack(evaluation, `${endpoint.baseUrl}/chat/completions`);
  assertEquals(thief.requests.length, 1, "the redirect was followed");
  assert(stolen(endpoint), "the endpoint itself is asked with its credential");
  assert(!text.includes(SECRET));
});

test("a page in a browser cannot spend the credential", async () => {
  await using endpoint = await startProviderDouble(completion());
  await using evaluation = await startEval({ EVAL_ENDPOINTS: endpoint.origin });
  await attack(evaluation, endpoint.baseUrl);
  assert(stolen(endpoint), "a program is served");
  const spent = endpoint.requests.length;

  const pages: [Record<string, string>, number, string][] = [
    [{ origin: "https://evil.example" }, 403, "forbidden_origin"],
    [{ "content-type": "text/plain" }, 415, "unsupported_media_type"],
  ];
  for (const [headers, status, code] of pages) {
    const answer = await attack(evaluation, endpoint.baseUrl, headers);
    assertEquals([answer.status, JSON.parse(answer.text).code], [status, code]);
  }
  // A page whose own name resolves to this machine: no cross-origin check applies to it.
  const rebound = evaluation.url.replace("127.0.0.1", "evil.example");
  const answer = await attack({ ...evaluation, url: rebound }, endpoint.baseUrl, {}, toLoopback);
  assertEquals([answer.status, JSON.parse(answer.text).code], [403, "forbidden_host"]);
  assertEquals(endpoint.requests.length, spent);
});

test("a page cannot have the credential sent to its own server by a picture or a link", async () => {
  await using thief = await startProviderDouble(completion());
  await using evaluation = await startEval({});
  const list = async (headers: Record<string, string>, method = "GET") => {
    const query = new URLSearchParams({ endpoint: thief.baseUrl });
    const response = await fetch(`${evaluation.url}/models?${query}`, { method, headers });
    await response.body?.cancel();
    return response.status;
  };
  const site = (name: string, mode: string) => ({ "sec-fetch-site": name, "sec-fetch-mode": mode });
  const own = [{}, site("same-origin", "cors"), site("none", "navigate")];
  for (const headers of own) assertEquals(await list(headers), 200);
  assert(stolen(thief), "programs, the service's own page and the address bar are served");
  const asked = thief.requests.length;

  for (const name of ["cross-site", "same-site"]) {
    assertEquals(await list(site(name, "no-cors")), 403, "a picture");
    assertEquals(await list(site(name, "navigate")), 403, "a link");
    assertEquals(await list(site(name, "no-cors"), "HEAD"), 403);
  }
  const listed = { ...site("cross-site", "cors"), origin: "http://localhost:3000" };
  assertEquals(await list(listed), 403, "a page whose origin is in CORS_ORIGINS");
  assertEquals(thief.requests.length, asked);
});
