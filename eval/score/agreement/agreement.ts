import type { AgreementLabel, ReplyAgreement } from "../../test/interaction_result.ts";
import type { Comparison, Direction } from "../embeddings/bert/comparing.ts";
import type { EncodedText } from "../embeddings/bert/sentence_model.ts";
import { mean } from "../mean.ts";
import { product } from "../vectors.ts";

/** Texts whose cosine is lower are not compared: of 900 such pairs none agreed. */
const UNRELATED = 0.1;
/** Nor are those sentences of a reply that are less near than this, if others are nearer. */
const BESIDE = 0.4;

/** Chosen on development data only, as `docs/scores-and-statistics.md` describes. */
const ENTAILMENT_SHARE = 0.1;
const CONTRADICTION_COST = 0.4;

/** In texts of several sentences, what the reference says counts more than what the reply adds. */
const REFERENCE_SHARE = 0.75;

/** The probability above which a text contradicts the other, or follows from it. */
const SURE = 0.5;

/** The share of unknown words above which a text is in a language that the model does not know. */
const MOST_UNKNOWN = 0.2;

/** The same in a reply of several sentences. */
const SURE_IN_LONG = 0.7;

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
 * with those of the other text that are nearest to it.
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
  const cosines = expected.map(({ vector }) => found.map((other) => product(vector, other.vector)));
  const known = new Map<number, Promise<Comparison>>();
  /** Compares two windows, by their places in the texts, once. */
  function compare(reference: number, reply: number): Promise<Comparison> {
    return known.getOrInsertComputed(reference * found.length + reply, async () => {
      const cosine = cosines[reference]![reply]!;
      return cosine < UNRELATED
        ? unrelated(cosine)
        : await comparer.compare(expected[reference]!, found[reply]!);
    });
  }
  const [forReference, forReply] = await Promise.all([
    Promise.all(cosines.map(async (row, at) => {
      const [first, second] = descending(row) as [number, number?];
      const comparison = await compare(at, first);
      // A second sentence can only contradict if the first does not agree.
      return second === undefined || isFollowing(comparison)
        ? [comparison]
        : [comparison, await compare(at, second)];
    })),
    Promise.all(found.map((_, at) => {
      const column = cosines.map((row) => row[at]!);
      const nearest = descending(column)[0]!;
      const isBeside = column[nearest]! < BESIDE && !known.has(nearest * found.length + at);
      return isBeside ? unrelated(column[nearest]!) : compare(nearest, at);
    })),
  ]);
  const first = forReference.map(([comparison]) => comparison!);
  return conclude(first, forReply, contradictionIn(forReference, found.length > 1));
}

/** The places of the values, the highest first. */
function descending(values: number[]): number[] {
  return [...values.keys()].sort((a, b) => values[b]! - values[a]!);
}

/**
 * How much a reply contradicts its reference. In a long reply one sentence may speak of something
 * else: it contradicts only if that is very likely, and if no sentence near it agrees.
 */
function contradictionIn(compared: Comparison[][], isLong: boolean): number {
  return Math.max(...compared.map((comparisons) => {
    const most = Math.max(...comparisons.map(contradictionOf));
    const isMeant = !isLong || most > SURE_IN_LONG && !comparisons.some(isFollowing);
    return isMeant ? most : 0;
  }));
}

const isFollowing = ({ reply, reference }: Comparison) => reply[0] > SURE || reference[0] > SURE;

function unrelated(cosine: number): Comparison {
  return { reply: [0, 1, 0], reference: [0, 1, 0], similarity: Math.max(0, cosine) / 2 };
}

/** Combines the comparisons of every window of the reference and of the reply. */
function conclude(
  forReference: Comparison[],
  forReply: Comparison[],
  contradicts: number,
): Required<ComparedReply> {
  const entails = mean(forReply.map(({ reply: [follows] }) => follows))!;
  const covers = mean(forReference.map(({ reference: [follows] }) => follows))!;
  const ofReference = mean(forReference.map(({ similarity }) => similarity))!;
  const ofReply = mean(forReply.map(({ similarity }) => similarity))!;
  const graded = REFERENCE_SHARE * ofReference + (1 - REFERENCE_SHARE) * ofReply;
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
