import type { ComparedReply } from "./agreement/agreement.ts";

/** Converts texts to vectors whose cosine is the similarity of their meanings. */
export interface Embedder extends Disposable {
  /** The name of the encoder in answers. */
  readonly method: string;
  /** Rejects if the encoder fails; users may read the message. */
  embed(text: string): Promise<Float32Array>;
  /** Whether a reply follows from its reference, or contradicts it. Only of the built-in encoder. */
  compare?(pair: { reply: string; reference: string }): Promise<ComparedReply>;
}
