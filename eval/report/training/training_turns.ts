import type { ContentPart } from "../../../shared/providers/provider.ts";
import { mean } from "../../score/mean.ts";
import { referenceOf } from "../../score/references.ts";
import { outcomeOf, reaches } from "../../figures/passing.ts";
import type { Grade } from "../../test/grades.ts";
import type { InteractionResult } from "../../test/interaction_result.ts";
import { type Scenario, systemPromptOf } from "../../test/scenario.ts";
import type { ObservedToolCall } from "../../test/tools.ts";
import type { StoredRun } from "../../store/run_record.ts";
import type { RunReader } from "../../store/store.ts";
import { exportSource } from "../format.ts";

/** A message of a training row. */
export interface Said {
  role: "system" | "user" | "assistant";
  content: string;
  /** Calls that the reply left to its caller. */
  calls?: ObservedToolCall[];
}

/** A turn with what training needs of it. */
export interface TrainingTurn {
  run: StoredRun;
  scenario: number;
  attempt: number;
  turn: number;
  /** What the model was asked. */
  prompt: Said[];
  /** The same with corrected replies; `undefined` after a reply that failed and has no correction. */
  goodPrompt: Said[] | undefined;
  /** `undefined` if the call failed. */
  reply: Said | undefined;
  /** By people where they graded the reply, else by the run's threshold. */
  verdict: "passed" | "failed" | undefined;
  overall: number | null;
  grades: Grade[];
  /** What people say it should have been; not the reply itself. */
  corrections: { text: string; author: string | null }[];
  /** The endpoint ran tools whose results are not stored, so the reply cannot be learnt. */
  hidesToolResults: boolean;
  hasImages: boolean;
}

/** The turns of a run, in the order of its batch. Throws 409 while it is running. */
export async function* trainingTurns(
  reader: RunReader,
  run: StoredRun,
): AsyncGenerator<TrainingTurn> {
  const { request } = run;
  const { reader: graded, threshold } = exportSource(reader, { run });
  let before: { place: string; prompt: Said[]; good: Said[] | undefined; hasImages: boolean } = {
    place: "",
    prompt: [],
    good: [],
    hasImages: false,
  };
  for await (const { scenario, attempt, turn, result } of graded.turns(run.id)) {
    const place = `${scenario}/${attempt}`;
    if (before.place !== place) {
      const opening = openingOf(request.test_batch[scenario]!, request.parameters.system_prompt);
      before = { place, prompt: opening, good: opening, hasImages: false };
    }
    const { user_message, user_parts, grades = [], error, tool_calls: calls = [] } = result;
    const asked: Said = { role: "user", content: user_message };
    const hasImages: boolean = before.hasImages || hasImage(user_parts);
    const pending = calls.filter(({ status }) => status === null);
    const reply: Said | undefined = error ? undefined : {
      role: "assistant",
      content: result.agent_reply,
      ...(pending.length > 0 && { calls: pending }),
    };
    const corrections = grades.flatMap(({ corrected_reply: text, author }) =>
      text === null || text.trim() === reply?.content.trim() ? [] : [{ text, author }]
    );
    const verdict = verdictOf(result, threshold);
    const prompt = [...before.prompt, asked];
    const goodPrompt = before.good && [...before.good, asked];
    yield {
      run,
      scenario,
      attempt,
      turn,
      prompt,
      goodPrompt,
      reply,
      verdict,
      overall: result.scores.overall ?? null,
      grades,
      corrections,
      hidesToolResults: calls.length > pending.length,
      hasImages,
    };
    if (request.history === "reference") {
      const said: Said = { role: "assistant", content: referenceOf(result) ?? "" };
      before = { ...before, prompt: [...prompt, said], good: [...prompt, said], hasImages };
    } else if (reply) {
      const heard: Said = { role: "assistant", content: reply.content };
      const better = corrections[0]?.text ?? (verdict === "failed" ? undefined : reply.content);
      const good = better === undefined ? undefined : goodPrompt;
      before = {
        place,
        prompt: [...prompt, heard],
        good: good && [...good, { ...heard, content: better! }],
        hasImages,
      };
    }
  }
}

function openingOf(scenario: Scenario, common: string | undefined): Said[] {
  const system = systemPromptOf(scenario) || common;
  return [
    ...(system ? [{ role: "system" as const, content: system }] : []),
    ...scenario.prior_messages ?? [],
  ];
}

function hasImage(parts: ContentPart[] | undefined): boolean {
  return parts?.some(({ type }) => type !== "text") ?? false;
}

function verdictOf(result: InteractionResult, threshold: number): TrainingTurn["verdict"] {
  const people = mean(result.grades?.map(({ value }) => value) ?? []);
  if (people !== null) return reaches(people, threshold) ? "passed" : "failed";
  const outcome = outcomeOf(result, threshold);
  if (outcome === "passed") return "passed";
  return outcome === "below" ? "failed" : undefined;
}
