import type { EvaluateRequest } from "../../test/evaluate_request.ts";
import type { RunNote } from "../../test/evaluate_response.ts";
import { type Scenario, systemPromptOf } from "../../test/scenario.ts";
import { checksOf, expectsTools } from "../../score/planned_checks.ts";
import { referenceOf } from "../../score/references.ts";
import { counted } from "../../../shared/service/text.ts";
import { createHash } from "node:crypto";

/** Notes on a run, from its request alone; `hasJudge` says whether a judge is configured. */
export function runNotes(
  request: Pick<EvaluateRequest, "test_batch" | "protocol">,
  { hasJudge }: { hasJudge: boolean },
): RunNote[] {
  return [
    ...noteUnsent(request),
    ...noteCopies(request.test_batch.map(questionOf)),
    ...(hasJudge ? [] : noteSimilarity(request)),
  ];
}

function noteUnsent(
  { test_batch, protocol }: Pick<EvaluateRequest, "test_batch" | "protocol">,
): RunNote[] {
  const prompted = test_batch.filter((scenario) => systemPromptOf(scenario) !== "").length;
  if (protocol !== "agent" || prompted === 0) return [];
  const which = prompted === test_batch.length
    ? "every scenario"
    : `${prompted} of ${test_batch.length} scenarios`;
  return [{
    code: "system_prompts_not_sent",
    detail: `the system_prompt of ${which} was not sent: the agent's protocol has none`,
  }];
}

/** Notes that some scenarios have the same question; see `questionOf`. */
export function noteCopies(questions: string[]): RunNote[] {
  const different = new Set(questions).size;
  if (different === questions.length) return [];
  return [{
    code: "identical_questions",
    detail: `${questions.length} scenarios ask ${counted(different, "different question")}: ` +
      "those that ask the same count as one",
  }];
}

function noteSimilarity({ test_batch }: Pick<EvaluateRequest, "test_batch">): RunNote[] {
  const turns = test_batch.flatMap((scenario) =>
    scenario.interactions.map((interaction, turn) => ({ interaction, scenario, turn }))
  ).filter(({ interaction }) => referenceOf(interaction) !== undefined);
  const bare = turns.filter(({ interaction, scenario, turn }) =>
    Object.keys(interaction.reference_metadata).length === 0 &&
    checksOf(scenario, turn).length === 0 && !expectsTools(interaction)
  );
  if (bare.length === 0) return [];
  const which = bare.length === turns.length
    ? "every turn"
    : `${bare.length} of ${turns.length} turns`;
  return [{
    code: "similarity_alone",
    detail: `overall of ${which} is semantic_similarity alone, by a small model: see ` +
      "docs/scores-and-statistics.md#semantic_similarity",
  }];
}

type Asking = Pick<Scenario, "system_prompt"> & { interactions: { user_message: string }[] };

/**
 * Equal for scenarios with the same system prompt and messages: twelve copies of one question are
 * no more evidence than one. It is a digest, because the texts may have many megabytes.
 */
export function questionOf(scenario: Asking): string {
  const asked = scenario.interactions.map(({ user_message }) => user_message);
  return createHash("sha256").update(JSON.stringify([systemPromptOf(scenario), ...asked]))
    .digest("base64");
}
