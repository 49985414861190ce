import type { Page } from "playwright-core";
import { startServiceProcess } from "../fakes/service_process.ts";
import type { Shot } from "./screenshots.ts";

/** The pictures of the API's reference, of both services. */
export async function docsShots(): Promise<{ shots: Shot[] } & AsyncDisposable> {
  const agent = await startServiceProcess("agent");
  const evaluation = await startServiceProcess("eval");
  const open = (page: Page, { url }: { url: string }, route: string) =>
    page.goto(`${url}/docs?route=${encodeURIComponent(route)}`);

  const shots: Shot[] = [
    {
      name: "api",
      isDocumented: true,
      async take(page) {
        await open(page, agent, "GET /v1/models/{id}");
        await page.getByLabel("id (path, required)").fill("demo/assistant");
        await page.getByRole("button", { name: "Send GET" }).click();
        await page.locator(".try-result .code").waitFor();
      },
    },
    {
      name: "eval-api",
      isDocumented: true,
      async take(page) {
        await open(page, evaluation, "POST /evaluate");
        await page.getByRole("button", { name: "Send POST" }).waitFor();
      },
    },
    {
      name: "api-body",
      async take(page) {
        await open(page, agent, "POST /v1/chat/completions");
        await page.getByRole("button", { name: "Send POST" }).waitFor();
      },
    },
    {
      name: "api-plain",
      async take(page) {
        await open(page, agent, "POST /");
        await page.getByRole("button", { name: "Send POST" }).waitFor();
      },
    },
    {
      name: "api-answer",
      async take(page) {
        await open(page, evaluation, "GET /runs");
        await page.getByRole("button", { name: "Send GET" }).click();
        await page.locator(".try-result .code").scrollIntoViewIfNeeded();
      },
    },
    {
      name: "api-error",
      async take(page) {
        await open(page, evaluation, "GET /runs/{id}");
        await page.getByLabel("id (path, required)").fill("no-such-run");
        await page.getByRole("button", { name: "Send GET" }).click();
        await page.locator(".try-result .code").waitFor();
      },
    },
  ];
  return {
    shots,
    async [Symbol.asyncDispose]() {
      await agent[Symbol.asyncDispose]();
      await evaluation[Symbol.asyncDispose]();
    },
  };
}
