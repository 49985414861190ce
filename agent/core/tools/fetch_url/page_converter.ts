import pLimit from "p-limit";
import { untilAbort } from "../../../../shared/service/abort.ts";
import {
  COMPUTE_ONLY,
  createWorkerCall,
  type WorkerEvent,
  type WorkerPort,
  WorkerUnavailable,
} from "../../../../shared/service/worker_call.ts";
import { ToolError } from "../tool.ts";
import type { FetchedPage } from "./html_text.ts";

/** Turns HTML into text. */
export interface PageConverter extends Disposable {
  /** Throws a `ToolError` if the page cannot be converted, or not in time. */
  convert(page: FetchedPage, signal: AbortSignal): Promise<string>;
}

interface PageConverterOptions {
  /** Limit of one page. */
  timeoutMs?: number;
  onEvent?: (event: WorkerEvent) => void;
  start?: () => WorkerPort;
}

/** Ten times what the largest accepted pages take. */
const TIMEOUT_MS = 3_000;
const PROBE: FetchedPage = { html: "", url: "" };

/**
 * Converts pages one after the other in a worker without permissions: a page is untrusted and may
 * be made to take very long. The first page starts the worker. A page that exceeds the limit ends
 * it, and the next page gets a new one.
 */
export function createPageConverter(
  { timeoutMs = TIMEOUT_MS, onEvent, start = startWorker }: PageConverterOptions = {},
): PageConverter {
  const call = createWorkerCall<FetchedPage, string>(start, {
    name: "page",
    timeoutMs,
    probe: () => PROBE,
    ...(onEvent && { onEvent }),
  });
  const inTurn = pLimit(1);

  async function convertInTurn(page: FetchedPage, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted(); // the caller has left while it waited
    try {
      return await call(page);
    } catch (error) {
      if (error instanceof WorkerUnavailable) {
        throw new ToolError("cannot read the page: turning its HTML into text takes too long");
      }
      // The library fails on some pages, such as a list that begins with a huge Roman numeral.
      throw new ToolError("cannot read the page: its HTML cannot be turned into text");
    }
  }

  return {
    convert: (page, signal) => untilAbort(inTurn(() => convertInTurn(page, signal)), signal),
    [Symbol.dispose]: () => call[Symbol.dispose](),
  };
}

function startWorker(): WorkerPort {
  return new Worker(new URL("./page_worker.ts", import.meta.url), COMPUTE_ONLY);
}
