import { z } from "zod";
import { commonVariables } from "../../shared/service/config.ts";
import { createService } from "../../shared/http/service.ts";
import { startService } from "../../shared/service/ops/start.ts";
import { about, routesOf } from "./routes.ts";

/** How long the files stay open: enough for connections that cannot be accepted. */
const HOLD_MS = 300;

/** A service, run as a process, that opens files until it may open no more, and closes them. */
if (import.meta.main) {
  await startService({
    name: "exhausted",
    schema: z.object({ ...commonVariables, PORT: z.coerce.number().default(0) }),
    portVariable: "PORT",
    check: () => [],
    create: (config, log) => ({
      service: createService(
        routesOf({
          "POST /exhaust": () => {
            const files = openAll();
            setTimeout(() => files.forEach((file) => file.close()), HOLD_MS);
            return Response.json({ files: files.length });
          },
        }),
        { about, config, log },
      ),
    }),
  });
}

function openAll(): Deno.FsFile[] {
  const files: Deno.FsFile[] = [];
  try {
    for (;;) files.push(Deno.openSync("/dev/null"));
  } catch {
    return files;
  }
}
