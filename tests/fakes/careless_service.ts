import { z } from "zod";
import { commonVariables } from "../../shared/config.ts";
import { createService } from "../../shared/http/service.ts";
import { startService } from "../../shared/start.ts";

/** A service, run as a process, one of whose routes forgets a promise that fails. */
if (import.meta.main) {
  await startService({
    name: "careless",
    schema: z.object({ ...commonVariables, PORT: z.coerce.number().default(0) }),
    portVariable: "PORT",
    check: () => {},
    create: (config, log) => ({
      service: createService({
        "GET /": () => new Response("ok"),
        "GET /forget": () => {
          setTimeout(() => Promise.reject(new Error("forgotten")), 1);
          return new Response("ok");
        },
      }, { config, log }),
    }),
  });
}
