import type { SelfCheck } from "../../test/labels.ts";
import type { Interaction } from "../../test/scenario.ts";

/** The label of a reply for one metadata key. */
export interface KeyAnnotation {
  /** `undefined` if no label fits. */
  value: unknown;
  method: string;
  /** The chance that the value is right, in [0, 1]; `null` if there is no value. */
  confidence: number | null;
  /** Why there is no value. */
  reason?: string;
  /** The label could not be read at all. If unset, a reply without a value fits no label. */
  isPassing?: true;
}

export function noLabel(method: string, reason: string): KeyAnnotation {
  return { value: undefined, method, confidence: null, reason };
}

/** A generated reply and the turn that it answers. */
export interface AnnotatedReply {
  text: string;
  interaction: Interaction;
}

/** A reference of the batch and its label for a key. */
export interface LabelExample {
  text: string;
  /** As the batch writes it first. */
  label: unknown;
  interaction: Interaction;
}

/**
 * Labels replies for one metadata key. Rejects if it needs the encoder and that fails.
 */
export interface KeyAnnotator {
  readonly method: string;
  annotate(reply: AnnotatedReply): Promise<KeyAnnotation>;
  /**
   * The label that a reference would get if it were a reply and not an example; `undefined` if
   * none.
   */
  relabel(example: LabelExample): Promise<unknown>;
}

/** How the replies of a batch are labelled for one key. It depends on the batch only. */
export interface KeyPlan {
  method: string;
  /** `null` if there are no references to check with. */
  selfCheck: SelfCheck | null;
  /** `undefined` if no reply of this batch can be labelled; `reason` says why. */
  annotator: KeyAnnotator | undefined;
  reason?: string;
}
