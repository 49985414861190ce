import type { Interaction } from "../../shared/schemas/evaluate.ts";

/** Reads one annotation out of a generated reply. */
export interface Annotator {
  /** Whether this annotator is the one to ask for a metadata key. */
  handles(key: string): boolean;
  /** The value it finds, or `undefined` where it cannot tell. */
  annotate(
    key: string,
    reply: { text: string; interaction: Interaction },
  ): string | undefined | Promise<string | undefined>;
}
