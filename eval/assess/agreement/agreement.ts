import type { AgreementLabel, ReplyAgreement } from "../../schemas/interaction_result.ts";
import type { Comparison, Direction } from "../embeddings/bert/comparing.ts";
import type { EncodedText } from "../embeddings/bert/sentence_model.ts";
import { mean } from "../mean.ts";
import { product } from "../vectors.ts";

/** Texts whose cosine is lower count as unrelated: none of 350 such pairs agreed. */
const UNRELATED = 0.1;

/** Chosen on development data only, as `docs/scores-and-statistics.md` describes. */
const ENTAILMENT_SHARE = 0.1;
const CONTRADICTION_COST = 0.4;

/** The probability above which a text contradicts the other, or follows from it. */
const SURE = 0.5;

/** The share of unknown words above which a text is in a language that the model does not know. */
const MOST_UNKNOWN = 0.2;

/** A part of a text that is compared as a whole. */
type TextWindow = EncodedText;

/** Compares two texts: whether one follows from the other, or contradicts it. */
interface TextComparer {
  /** Splits a text into parts of a few sentences, in order. */
  windows(text: string): Promise<TextWindow[]>;
  compare(reference: TextWindow, reply: TextWindow): Promise<Comparison>;
}

export interface ComparedReply {
  /** Unset if the model does not know one of the languages. */
  agreement?: ReplyAgreement;
  /** In [0, 1]; `calibrate` puts it on the scale of the other methods. */
  similarity: number;
}

/**
 * Compares a reply with its reference. Texts of several windows are compared window by window: each
 * with the one of the other text that is nearest to it.
 */
export async function compareReply(
  { reply, reference }: { reply: string; reference: string },
  comparer: TextComparer,
): Promise<ComparedReply> {
  const [expected, found] = await Promise.all([reference, reply].map(comparer.windows)) as [
    TextWindow[],
    TextWindow[],
  ];
  const isKnown = [expected, found].every((windows) =>
    mean(windows.map(({ unknown }) => unknown))! <= MOST_UNKNOWN
  );
  const { agreement, similarity } = await compareWindows(expected, found, comparer);
  return isKnown ? { agreement, similarity } : { similarity };
}

async function compareWindows(
  expected: TextWindow[],
  found: TextWindow[],
  comparer: TextComparer,
): Promise<Required<ComparedReply>> {
  const isFar = expected.every((window) => nearest(window, found).cosine < UNRELATED);
  if (isFar) return unrelated(Math.max(...expected.map((one) => nearest(one, found).cosine)));
  const compare = (one: TextWindow, other: TextWindow) => comparer.compare(one, other);
  const [forReference, forReply] = await Promise.all([
    Promise.all(expected.map((window) => compare(window, nearest(window, found).window))),
    found.length === 1 && expected.length === 1
      ? undefined
      : Promise.all(found.map((window) => compare(nearest(window, expected).window, window))),
  ]);
  return conclude(forReference, forReply ?? forReference);
}

function nearest(own: TextWindow, others: TextWindow[]): { window: TextWindow; cosine: number } {
  let best = { window: others[0]!, cosine: -2 };
  for (const other of others) {
    const cosine = product(own.vector, other.vector);
    if (cosine > best.cosine) best = { window: other, cosine };
  }
  return best;
}

function unrelated(cosine: number): Required<ComparedReply> {
  const agreement = { entails: 0, contradicts: 0, covers: 0, label: "unrelated" as const };
  return { agreement, similarity: Math.max(0, cosine) };
}

/** Combines the comparisons of every window of the reference and of the reply. */
function conclude(forReference: Comparison[], forReply: Comparison[]): Required<ComparedReply> {
  const entails = mean(forReply.map(({ reply: [follows] }) => follows))!;
  const covers = mean(forReference.map(({ reference: [follows] }) => follows))!;
  const contradicts = Math.max(...forReference.map(contradictionOf));
  const graded = mean([...forReference, ...forReply].map(({ similarity }) => similarity))!;
  const agreed = (1 - ENTAILMENT_SHARE) * graded + ENTAILMENT_SHARE * (entails + covers) / 2;
  const similarity = agreed * (1 - CONTRADICTION_COST * contradicts);
  const label = labelOf({ entails, covers, contradicts, graded });
  return {
    agreement: {
      entails: round(entails),
      contradicts: round(contradicts),
      covers: round(covers),
      label,
    },
    similarity,
  };
}

const contradictionOf = ({ reply, reference }: Comparison) => (last(reply) + last(reference)) / 2;
const last = (direction: Direction) => direction[2];
const round = (value: number) => Math.round(value * 1000) / 1000;

function labelOf(
  { entails, covers, contradicts, graded }: {
    entails: number;
    covers: number;
    contradicts: number;
    graded: number;
  },
): AgreementLabel {
  if (contradicts > SURE) return "contradicts";
  if (entails > SURE && covers > SURE) return "same";
  if (entails > SURE) return "partly";
  if (covers > SURE) return "adds";
  return graded > SURE ? "partly" : "unrelated";
}
