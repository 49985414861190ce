import type { z } from "zod";
import { type CommonConfig, ConfigError, parseConfig, readEnvironment } from "./config.ts";
import type { Service } from "./http/router.ts";
import { serve } from "./http/server.ts";
import { createLogger, type Logger } from "./log.ts";

/** What a `main.ts` has to say of its service. */
export interface ServiceDefinition<S extends z.ZodObject> {
  /** `assay-agent`; stands in the log. */
  name: string;
  schema: S;
  portVariable: keyof z.output<S> & string;
  /** Wires the service; may throw `ConfigError`. */
  create(config: z.output<S>, log: Logger): StartedService | Promise<StartedService>;
}

export interface StartedService {
  service: Service;
  /** Further facts for the line that says where the service listens. */
  fields?: Record<string, string>;
  /** For people at a terminal: what to try at this address. */
  hints?: (url: string) => string[];
  /** Ends what the service does beside answering requests, while the last of these are answered. */
  stop?: () => Promise<void>;
  /** Closes what the service holds, after the last answer. */
  close?: () => Promise<void>;
}

/**
 * Reads the configuration, wires the service and serves until a signal. A configuration that
 * cannot be used ends the process with 1 and says why, without a stack trace.
 */
export async function startService<S extends z.ZodObject>(
  definition: ServiceDefinition<S>,
): Promise<void> {
  const { name, schema, portVariable } = definition;
  try {
    const config = parseConfig(schema, readEnvironment(schema));
    const common = config as unknown as CommonConfig;
    const format = common.LOG_FORMAT ?? (Deno.stdout.isTerminal() ? "text" : "json");
    const log = createLogger({ level: common.LOG_LEVEL, format, write: writeLine });
    const { service, fields, hints, stop, close } = await definition.create(config, log);
    serve({
      name,
      portVariable,
      hostname: common.HOST,
      port: Number(config[portVariable]),
      graceMs: common.SHUTDOWN_GRACE_MS,
      service,
      log,
      ...(stop && { stop }),
      ...(close && { close }),
      onListen(url) {
        log.info(`${name} listens on ${url}`, { url, ...fields });
        const isForPeople = format === "text" && ["debug", "info"].includes(common.LOG_LEVEL);
        if (isForPeople) hints?.(url).forEach(writeLine);
      },
    });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // deno-lint-ignore no-console -- there is no log before there is a configuration
    console.error(error.message);
    Deno.exit(1);
  }
}

function writeLine(line: string): void {
  // deno-lint-ignore no-console -- the log goes to standard output, and this is its only way there
  console.log(line);
}
