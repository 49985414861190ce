import { createBatcher } from "../background/batcher.ts";
import { createMemo } from "../background/memo.ts";
import {
  createWorkerCall,
  type WorkerCall,
  type WorkerEvent,
  type WorkerPort,
} from "../../../shared/background/worker_call.ts";
import type { EncoderModel } from "./bert/weight_piece.ts";
import { type Embedder, pool } from "./embedder.ts";
import { type EncoderInput, startEncoder } from "./encoder_start.ts";
import { cutWindows } from "./windows.ts";

/** Larger batches take as long a text, and keep a small run waiting behind a large one. */
const BATCH = 32;
/** If more texts than these wait for each of the workers, another one is started. */
const CROWD = 8;
/** A text waits so long for others to be encoded with. */
const WAIT_MS = 5;
/** Workers that have had nothing to do for so long end, and give their memory back. */
const IDLE_MS = 60_000;
/** Vectors of 1.5 KB, 8 MB in all, beside their keys; the memo bounds both to 32 MB. */
const REMEMBERED = 5000;

/** A batch takes one or two seconds. */
const TIMEOUT_MS = 60_000;

export interface LocalEmbedderOptions {
  /** MiniLM if unset. */
  model?: EncoderModel;
  /** How many may encode at once: each takes a processor and about 80 MB. */
  workers?: number;
  idleMs?: number;
  start?: (model: EncoderModel) => WorkerPort;
  /** Told what happens to each of the workers; called once for each. */
  watch?: () => (event: WorkerEvent) => void;
}

/**
 * A sentence encoder that is part of the program, in workers that are started as texts come. A
 * run's references, and replies that repeat, are encoded once.
 */
export function createLocalEmbedder(options: LocalEmbedderOptions = {}): Embedder {
  const { workers = 1, idleMs = IDLE_MS, model = "minilm", start = startEncoder, watch } = options;
  const encoders = Array.from(
    { length: workers },
    () => createEncoder({ start: () => start(model), report: watch?.() }),
  );
  let working = 0;
  let idleTimer: ReturnType<typeof setTimeout> | undefined;

  async function encodeBatch(texts: string[], slot: number): Promise<Float32Array[]> {
    clearTimeout(idleTimer);
    working++;
    try {
      const different = [...new Set(texts)];
      const vectors = await encoders[slot]!.encode(different);
      const byText = new Map(different.map((text, index) => [text, vectors[index]!]));
      return texts.map((text) => byText.get(text)!);
    } finally {
      if (--working === 0) {
        idleTimer = setTimeout(() => encoders.forEach((encoder) => encoder.rest()), idleMs);
        Deno.unrefTimer(idleTimer);
      }
    }
  }

  const encode = createBatcher(encodeBatch, {
    size: BATCH,
    parallel: workers,
    crowd: CROWD,
    prepare: (slot) => encodeBatch([], slot), // a worker that is started loads its model
    waitMs: WAIT_MS,
  });
  const embed = createMemo(
    async (text) => pool(await Promise.all(cutWindows(text).map(encode))),
    { capacity: REMEMBERED },
  );
  return {
    method: model,
    isEnglishOnly: true,
    embed,
    [Symbol.dispose]() {
      clearTimeout(idleTimer);
      for (const encoder of encoders) encoder[Symbol.dispose]();
    },
  };
}

/** One worker at a time, which may be ended while it has nothing to do. */
interface Encoder extends Disposable {
  encode(texts: string[]): Promise<Float32Array[]>;
  rest(): void;
}

function createEncoder(
  { start, report }: {
    start: () => WorkerPort;
    report: ((event: WorkerEvent) => void) | undefined;
  },
): Encoder {
  let call: WorkerCall<EncoderInput, Float32Array[]> | undefined;
  let isDown = false;

  function onEvent(event: WorkerEvent): void {
    if (event.kind !== "restarted") isDown = event.kind === "died";
    report?.(event);
  }

  function end(): void {
    call?.[Symbol.dispose]();
    call = undefined;
  }

  return {
    encode(texts) {
      call ??= createWorkerCall<EncoderInput, Float32Array[]>(start, {
        name: "encoder",
        timeoutMs: TIMEOUT_MS,
        probe: { texts: [] },
        onEvent,
      });
      return call({ texts });
    },
    rest() {
      if (!isDown) end(); // a worker that is down is kept: its recovery is reported
    },
    [Symbol.dispose]: end,
  };
}
