import { ProviderError } from "../../shared/providers/provider.ts";
import type { InteractionResult } from "../../eval/test/interaction_result.ts";
import type { Interaction, Scenario } from "../../eval/test/scenario.ts";
import type { Assessor } from "../../eval/score/assessment.ts";
import type { ConversationMessage, Target } from "../../eval/ask/target.ts";
import { runScenarios } from "../../eval/run/execute/runner.ts";

type RunPorts = Parameters<typeof runScenarios>[1];
export type Recorder = RunPorts["recorder"];

/** A turn with the required fields, and those that the test sets. */
export function interaction(id: string, fields: Partial<Interaction> = {}): Interaction {
  return {
    id,
    user_message: `message ${id}`,
    agent_reply: "",
    interaction_type: "opening",
    reference_metadata: {},
    generated_metadata: {},
    ...fields,
  };
}

export function scenario(id: string, interactions: Interaction[]): Scenario {
  return { id, interactions, description: "" };
}

/** A model under test that answers by a function and records every conversation. */
export function fakeTarget(answer: (conversation: ConversationMessage[], call: number) => string) {
  const asked: ConversationMessage[][] = [];
  const target: Target = {
    ask(conversation, _signal) {
      asked.push(conversation);
      return new Promise((resolve) =>
        resolve({ content: answer(conversation, asked.length), usage: null })
      );
    },
  };
  return { target, asked };
}

/** Scores 1 for a reply that equals its reference, else 0. */
export const plainAssessor: Assessor = {
  assess: (interaction, reply) =>
    Promise.resolve({
      generatedMetadata: {},
      scores: { overall: reply === interaction.reference_reply ? 1 : 0 },
    }),
  failed: () => Promise.resolve({ overall: 0 }),
  unscored: (_interaction, reason) => ({
    scores: { overall: null },
    missing_scores: { overall: reason },
  }),
};

/** Runs to the end and returns each attempt's interactions, by scenario and attempt. */
export async function runAndCollect(
  plan: { scenarios: Scenario[]; attempts: number },
  runPorts: RunPorts,
): Promise<InteractionResult[][][]> {
  const results: InteractionResult[][][] = plan.scenarios.map(() =>
    Array.from({ length: plan.attempts }, () => [])
  );
  const recorder: Recorder = {
    async record(position, result, timing) {
      await runPorts.recorder.record(position, result, timing);
      results[position.scenario]![position.attempt]![position.turn] = result;
    },
  };
  await runScenarios(plan, { ...runPorts, recorder });
  return results;
}

export function ports(target: Target, more: Partial<RunPorts> = {}): RunPorts {
  return {
    target,
    assessor: plainAssessor,
    recorder: { record: () => {} },
    limiter: (work) => work(),
    concurrency: 8,
    signal: new AbortController().signal,
    ...more,
  };
}

/** The last message, as a reply. */
export function echo(conversation: { content: string }[]): string {
  return `re: ${conversation.at(-1)?.content}`;
}

export function providerError(status: number): ProviderError {
  return new ProviderError(502, "provider_error", `the endpoint answered ${status}`, {
    kind: "status",
    status,
  });
}
