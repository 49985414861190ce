import type { ScoringPorts } from "../assessor.ts";
import { pairScorers } from "./mod.ts";
import { OVERALL_PARTS } from "./overall.ts";
import type { ScoreDescription } from "./score.ts";
import { METHODS } from "./similarity_method.ts";
import { SIMILARITY_LIMIT } from "./semantic_similarity.ts";

const RANGE: [number, number] = [0, 1];

/** What is computed for each kind of reference, as the calibration has it. */
function describeMethods(): string {
  const methods = Object.values(METHODS).map(({ name, words, share, threshold }) => {
    const overlap = words === "stems" ? "F1 over word stems" : "cosine of character 2- to 4-grams";
    const rest = Number((1 - share).toFixed(2));
    return `${name}: ${share} × cosine of sentence vectors + ${rest} × ${overlap}, and then ` +
      `straight lines from 0 over ${threshold} (which becomes 0.7) to 1`;
  });
  return `by the language and script of the reference: ${methods.join("; ")}. The n-grams are ` +
    "weighted by TF-IDF over the batch's references. null if the vectors cannot be had; each " +
    "result names its method in score_methods";
}

const LABELLED_BY =
  "sentiment by a model for English, or by the batch's own examples if they do better; a key with " +
  "one label by rules for English dialogue acts; others by nearness to the labelled references " +
  "(cosine of vectors, or of character n-grams in other languages). A reply on the subject of its " +
  "reference is often given its label even if it carries another. Each key is checked with the " +
  "batch's references by leave-one-out (labels.<key>.self_check) and is not labelled if it fails";

/** Every score that a result may have, as it is computed with these ports. */
export function describeScores({ embedder, judge }: ScoringPorts): ScoreDescription[] {
  return [
    ...pairScorers.map(({ compare: _, longest: __, ...description }) => description),
    {
      name: "semantic_similarity",
      definition: "how near the reply and the reference are in meaning",
      range: RANGE,
      method: embedder.isEnglishOnly ? describeMethods() : `cosine of ${embedder.method}`,
      limits:
        `${SIMILARITY_LIMIT}; differs_in of a turn names numbers, dates, negations, names and ` +
        "opposites in which reply and reference differ, and lowers no score",
    },
    {
      name: "<key>_match",
      definition: "for each key of reference_metadata: 1 if the reply has the expected label, " +
        "else 0, also if the judge says that none of the labels fits; missing if the reply has no " +
        "label; null if the key cannot be labelled in this batch",
      range: RANGE,
      method: `a reply with the text of a reference has its labels; ${
        judge ? `others have those that ${judge.name} gives` : LABELLED_BY
      }`,
    },
    {
      name: "metadata_match",
      definition: "the mean of <key>_match over the keys that can be labelled in this batch; " +
        "missing if one of them is missing",
      range: RANGE,
      method: "mean",
    },
    {
      name: "judge",
      definition: "a model's grade of the reply against the reference, by a rubric; null where " +
        "there is no judge or its verdict cannot be read",
      range: RANGE,
      method: judge
        ? `grade 0 to 10 by ${judge.name}, the mean of the votes, divided by 10`
        : "no judge is configured",
    },
    {
      name: "overall",
      definition: `the mean of ${
        OVERALL_PARTS.join(", ")
      }, of those that apply to the turn; null if one of them could not be had, and overall_bounds says where it lies`,
      range: RANGE,
      method: "mean, each with the same weight",
    },
  ];
}
