import { z } from "zod";
import { commonVariables } from "../../shared/config.ts";
import { createService } from "../../shared/http/service.ts";
import { startService } from "../../shared/start.ts";

/**
 * A service, run as a process, one of whose routes fails as none should, and one forgets a promise
 * that fails. Both failures quote what the caller sent.
 */
if (import.meta.main) {
  await startService({
    name: "careless",
    schema: z.object({ ...commonVariables, PORT: z.coerce.number().default(0) }),
    portVariable: "PORT",
    check: () => {},
    create: (config, log) => ({
      service: createService({
        "GET /": () => new Response("ok"),
        "POST /fail": async (request) => {
          const said = await request.text();
          throw new TypeError(`cannot use ${said}`, { cause: new Error(said) });
        },
        "POST /forget": async (request) => {
          const said = await request.text();
          setTimeout(() => Promise.reject(new Error(said)), 1);
          return new Response("ok");
        },
      }, { config, log }),
    }),
  });
}
