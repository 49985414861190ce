import { compareReply } from "./agreement/agreement.ts";
import { createBatcher } from "./background/batcher.ts";
import { createMemo } from "./background/memo.ts";
import {
  createWorkerCall,
  type WorkerCall,
  type WorkerEvent,
  type WorkerPort,
  WorkerUnavailable,
} from "../../shared/service/worker_call.ts";
import type { EncodedPair } from "./embeddings/bert/comparing.ts";
import type { EncodedText, SharedModel } from "./embeddings/bert/sentence_model.ts";
import type { Embedder } from "./scoring_ports.ts";
import { pool, product } from "./vectors.ts";
import { type EncoderInput, type EncoderOutput, startEncoder } from "./encoder_start.ts";
import { cutWindows } from "./embeddings/windows.ts";

/** Larger batches are no faster per text, and make a small run wait for a large one. */
const BATCH = 32;
/** Another worker is started if more texts than this wait per worker. */
const CROWD = 8;
/** How long a text waits for others to share its batch. */
const WAIT_MS = 5;
/** Workers end after this long without work, to free their memory. */
const IDLE_MS = 60_000;
/** For the vectors of 5,000 texts of 1.5 KB each. */
const VECTOR_BYTES = 10 * 1024 * 1024;
/** For states of 0.8 KB per word piece: about 400 texts of 25 words. */
const KEPT_BYTES = 8 * 1024 * 1024;
/** For the agreement of 5,000 pairs of 25 words each. */
const AGREEMENT_BYTES = 4 * 1024 * 1024;
/** The size of one, without its texts. */
const ONE_AGREEMENT = 200;

/** A batch takes one or two seconds. */
const TIMEOUT_MS = 60_000;

interface LocalEmbedderOptions {
  /** How many workers may encode at once, each on one processor. They share one model. */
  workers?: number;
  idleMs?: number;
  start?: () => WorkerPort;
  /** Called once for each worker; its result is called with the events of the worker. */
  watch?: () => (event: WorkerEvent) => void;
}

/**
 * The built-in sentence encoder, in workers that are started when texts arrive. References and
 * repeated replies are encoded once.
 */
export function createLocalEmbedder(options: LocalEmbedderOptions = {}): Embedder {
  const { workers = 1, idleMs = IDLE_MS, start = startEncoder, watch } = options;
  const encoders = Array.from(
    { length: workers },
    () => createEncoder({ start, report: watch?.() }),
  );
  /**
   * The model of the first worker, for the others to join. Dropped when there is no work: a
   * reference in this thread would keep the model in memory after the workers have ended.
   */
  let lent: Promise<SharedModel> | undefined;
  let working = 0;
  let idleTimer: ReturnType<typeof setTimeout> | undefined;
  let isEnded = false;

  async function encodeBatch(texts: string[], slot: number): Promise<EncodedText[]> {
    const different = [...new Set(texts)];
    const encoded = await work(() => encoders[slot]!.encode(different));
    const byText = new Map(different.map((text, index) => [text, encoded[index]!]));
    return texts.map((text) => byText.get(text)!);
  }

  /** Further workers use the model of the first. */
  function prepare(slot: number): Promise<unknown> {
    const encoder = encoders[slot]!;
    return work(async () => {
      if (encoder.isStarted) return encoder.encode([]);
      lent ??= encoders[0]!.lend();
      return encoder.join(await lent.catch(() => lent = undefined));
    });
  }

  async function work<T>(action: () => Promise<T>): Promise<T> {
    clearTimeout(idleTimer);
    working++;
    try {
      return await action();
    } finally {
      if (--working === 0 && !isEnded) {
        lent = undefined;
        idleTimer = setTimeout(() => encoders.forEach((encoder) => encoder.rest()), idleMs);
        Deno.unrefTimer(idleTimer);
      }
    }
  }

  const parallel = { parallel: workers, crowd: CROWD, prepare, waitMs: WAIT_MS };
  const encode = createBatcher(encodeBatch, { size: BATCH, ...parallel });
  const compare = createBatcher(
    (pairs: EncodedPair[], slot) => work(() => encoders[slot]!.compare(pairs)),
    { size: BATCH, ...parallel },
  );
  const windows = createMemo((text) => Promise.all(cutWindows(text).map(encode)), {
    maxBytes: KEPT_BYTES,
    sizeOf: (found) =>
      found.reduce((sum, { vector, states }) => sum + vector.byteLength + states.byteLength, 0),
  });
  const embed = createMemo(
    async (text) => pool((await windows(text)).map(({ vector }) => vector)),
    { maxBytes: VECTOR_BYTES },
  );
  const comparer = {
    windows,
    compare: (reference: EncodedText, reply: EncodedText) =>
      compare({
        reference: reference.states,
        reply: reply.states,
        cosine: product(reference.vector, reply.vector),
      }),
  };
  const agreements = createMemo((pair) => compareReply(JSON.parse(pair), comparer), {
    maxBytes: AGREEMENT_BYTES,
    sizeOf: () => ONE_AGREEMENT,
  });
  return {
    method: "meaning",
    embed,
    compare: ({ reply, reference }) => agreements(JSON.stringify({ reply, reference })),
    [Symbol.dispose]() {
      isEnded = true;
      clearTimeout(idleTimer);
      for (const encoder of encoders) encoder[Symbol.dispose]();
    },
  };
}

/** One worker at a time, which may be ended when it is idle. */
function createEncoder(
  { start, report }: {
    start: () => WorkerPort;
    report: ((event: WorkerEvent) => void) | undefined;
  },
) {
  let call: WorkerCall<EncoderInput, EncoderOutput> | undefined;
  /** The model for the next worker to join. */
  let joins: SharedModel | undefined;
  let isDown = false;
  let isEnded = false;

  function onEvent(event: WorkerEvent): void {
    if (event.kind !== "restarted") isDown = event.kind === "died";
    report?.(event);
  }

  function send(input: EncoderInput): Promise<EncoderOutput> {
    if (isEnded) return Promise.reject(new WorkerUnavailable("the encoder was ended"));
    call ??= createWorkerCall<EncoderInput, EncoderOutput>(start, {
      name: "encoder",
      timeoutMs: TIMEOUT_MS,
      probe,
      onEvent,
    });
    return call(input);
  }

  /** A worker that is restarted after a crash loads the model itself. */
  function probe(): EncoderInput {
    const input: EncoderInput = { texts: [], ...(joins && { joins }) };
    joins = undefined;
    return input;
  }

  function end(): void {
    call?.[Symbol.dispose]();
    call = undefined;
  }

  return {
    get isStarted() {
      return call !== undefined;
    },
    encode: async (texts: string[]) => (await send({ texts })).texts,
    compare: async (pairs: EncodedPair[]) => (await send({ texts: [], pairs })).comparisons!,
    /** Loads the model if necessary. */
    lend: async () => (await send({ texts: [], lends: true })).lent!,
    /** Starts a worker with the model of another one; without a model it loads its own. */
    join(model: SharedModel | undefined) {
      joins = model;
      return send({ texts: [] });
    },
    rest(): void {
      if (!isDown) end(); // a crashed worker is kept, so that its recovery is reported
    },
    [Symbol.dispose](): void {
      isEnded = true;
      end();
    },
  };
}
