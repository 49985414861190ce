import { z } from "zod";
import { commonVariables } from "../../shared/service/config.ts";
import { streamResponse } from "../../shared/http/answer.ts";
import { createService } from "../../shared/http/service.ts";
import { startService } from "../../shared/service/ops/start.ts";
import { about, routesOf } from "./routes.ts";

/**
 * A faulty service, run as a process: a route throws, a promise is rejected without a handler, and
 * bodies fail at once or later. All errors quote what the caller sent.
 */
if (import.meta.main) {
  await startService({
    name: "careless",
    schema: z.object({ ...commonVariables, PORT: z.coerce.number().default(0) }),
    portVariable: "PORT",
    check: () => [],
    create: (config, log) => ({
      service: createService(
        routesOf({
          "GET /": () => new Response("ok"),
          "POST /fail": async (request) => {
            const said = await request.text();
            throw new TypeError(`cannot use ${said}`, { cause: new Error(said) });
          },
          "POST /break": async (request) =>
            streamResponse(breakingBody(await request.text(), []), {}),
          "POST /break-later": async (request) =>
            streamResponse(breakingBody(await request.text(), ["first"]), {}),
          "POST /forget": async (request) => {
            const said = await request.text();
            setTimeout(() => Promise.reject(new Error(said)), 1);
            return new Response("ok");
          },
        }),
        { about, config, log },
      ),
    }),
  });
}

function breakingBody(said: string, pieces: string[]): ReadableStream<Uint8Array<ArrayBuffer>> {
  async function* make() {
    for (const piece of pieces) {
      yield new TextEncoder().encode(piece);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    throw new Error(said);
  }
  return ReadableStream.from(make());
}
