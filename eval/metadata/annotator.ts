import type { Interaction } from "../../shared/schemas/evaluate.ts";

/** What was read out of a reply for one metadata key. */
export interface Annotation {
  /** `undefined` where the annotator cannot tell. */
  value: unknown;
  method: string;
  /** In [0, 1], as the method understands it; `null` where there is no value. */
  confidence: number | null;
}

/** A generated reply and the turn that it answers. */
export interface AnnotatedReply {
  text: string;
  interaction: Interaction;
}

/** Reads one annotation out of a generated reply. */
export interface Annotator {
  /** Whether this annotator is the one to ask for a metadata key. */
  handles(key: string): boolean;
  annotate(key: string, reply: AnnotatedReply): Annotation | Promise<Annotation>;
}
