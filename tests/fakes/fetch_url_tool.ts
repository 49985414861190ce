import { assertRejects } from "@std/assert";
import {
  createFetchUrl,
  createPageConverter,
  type FetchUrlOptions,
} from "../../agent/core/tools/fetch_url.ts";
import { ToolError } from "../../agent/core/tools/tool.ts";
import { createPublicFetch, isPublicAddress } from "../../shared/http/public_fetch.ts";
import { type Answer, raw, startProviderDouble } from "./provider_double.ts";

/** Long enough for a busy machine. */
export const PATIENT = { timeoutMs: 60_000 };

/** The tool as the service uses it, with longer limits and the given options. */
export function createTool(options: Partial<FetchUrlOptions> = {}) {
  return createFetchUrl({
    connect: createPublicFetch(),
    ...PATIENT,
    converter: createPageConverter(PATIENT),
    ...options,
  });
}

/**
 * The tool with `site.test` as a public host that leads to the double. `resolve` answers in place of
 * DNS; 127.0.0.1 counts as public only as the address of that host.
 */
export function toolOf(resolve: (hostname: string) => string[] = () => ["127.0.0.1"]) {
  const connect = createPublicFetch({
    resolve: (hostname) =>
      Promise.resolve(resolve(hostname).map((address) => ({ address, family: 4 }))),
    isPublic: (address) => address === "127.0.0.1" || isPublicAddress(address),
  });
  return createTool({ connect });
}

/** What the tool returns for a page. */
export async function read(answers: Answer | Answer[], path = "/page"): Promise<string> {
  await using double = await startProviderDouble(answers);
  using tool = toolOf();
  return await tool.run({ url: siteUrl(double, path) }, {});
}

/** The address of the double as that host. */
export function siteUrl({ origin }: { origin: string }, path = "/"): string {
  return `http://site.test:${new URL(origin).port}${path}`;
}

/** The error that the model gets. */
export async function refusal(work: () => Promise<string>): Promise<string> {
  return (await assertRejects(work, ToolError)).message;
}

/** A page. */
export const html = (body: string, type = "text/html; charset=utf-8") =>
  raw(body, { headers: { "content-type": type } });
