import { isAskedTheSecondWay } from "../../test/conversations.ts";
import type { InteractionResult } from "../../test/interaction_result.ts";
import { createYielder } from "../../../shared/service/yielder.ts";
import { mean } from "../../score/mean.ts";
import { OVERALL_PARTS } from "../../score/overall.ts";
import { HEADLINE } from "../passing.ts";
import type { TurnPosition } from "../../store/turn_record.ts";
import type { Conversation, VoteSpread } from "./components.ts";

export const JUDGED = "judge";
/** The judge's grades are from 0 to 10. */
const HIGHEST_GRADE = 10;

/** The fields of a recorded turn that are needed for its noise. */
export interface NoisyTurn extends TurnPosition {
  result: Pick<InteractionResult, "scores" | "error" | "judge" | "history_of">;
}

interface Cell {
  value: number;
  /** The number of the judge's votes in it, and the weight of their mean. */
  votes: number;
  weight: number;
}

/** The size of the run, for the costs of a larger one. */
export interface Design {
  /** The turns of one attempt at each scenario. */
  turns: number;
  /** Model calls: turns of all attempts. */
  modelCalls: number;
  /** Turns that the judge graded, and its votes on them. */
  gradedTurns: number;
  votes: number;
}

/** The data that is kept of a run, without texts. */
export interface NoisyRun {
  names: Set<string>;
  /** The conversations of each scenario, by wanted score. Scenarios without it are left out. */
  scores: Map<string, Conversation[][]>;
  voteSpread: VoteSpread;
  design: Design;
}

/** Cells of one scenario, by score, attempt and turn. */
type ScenarioCells = Map<string, Map<number, Map<number, Cell>>>;

/** Reads the wanted scores of a run's turns, which come in the order of the batch. */
export async function readConversations(
  turns: AsyncIterable<NoisyTurn>,
  wanted: readonly string[],
): Promise<NoisyRun> {
  const run: NoisyRun = {
    names: new Set(),
    scores: new Map(),
    voteSpread: { squares: 0, degrees: 0 },
    design: { turns: 0, modelCalls: 0, gradedTurns: 0, votes: 0 },
  };
  let cells: ScenarioCells = new Map();
  let open: number | undefined;
  let longest = 0;
  const pause = createYielder();

  async function endScenario(): Promise<void> {
    for (const [name, attempts] of cells) {
      const conversations = await toConversations(attempts, pause);
      run.scores.getOrInsertComputed(name, () => []).push(conversations);
    }
    run.design.turns += longest;
    cells = new Map();
    longest = 0;
  }

  for await (const { scenario, attempt, turn, result } of turns) {
    if (isAskedTheSecondWay(result)) continue;
    if (scenario !== open) {
      await endScenario();
      open = scenario;
    }
    longest = Math.max(longest, turn + 1);
    countVotes(run, result);
    for (const name in result.scores) {
      const cell = toCell(name, result);
      if (!cell) continue;
      run.names.add(name);
      if (!wanted.includes(name)) continue;
      const attempts = cells.getOrInsertComputed(name, () => new Map<number, Map<number, Cell>>());
      attempts.getOrInsertComputed(attempt, () => new Map<number, Cell>()).set(turn, cell);
    }
  }
  await endScenario();
  return run;
}

function countVotes({ voteSpread, design }: NoisyRun, { judge }: NoisyTurn["result"]): void {
  design.modelCalls++;
  if (!judge || judge.votes.length === 0) return;
  const votes = judge.votes.map(({ grade }) => grade / HIGHEST_GRADE);
  const average = mean(votes)!;
  design.gradedTurns++;
  design.votes += votes.length;
  voteSpread.squares += votes.reduce((sum, vote) => sum + (vote - average) ** 2, 0);
  voteSpread.degrees += votes.length - 1;
}

/** A failed call counts 0 and has no votes. */
function toCell(name: string, { scores, judge, error }: NoisyTurn["result"]): Cell | undefined {
  const value = scores[name];
  if (typeof value !== "number") return undefined;
  const votes = error ? 0 : judge?.votes.length ?? 0;
  return { value, votes, weight: votes === 0 ? 0 : weightOfJudge(name, scores) };
}

/** `overall` is the mean of its parts, of which the judge's score is one. */
function weightOfJudge(name: string, scores: NoisyTurn["result"]["scores"]): number {
  if (name === JUDGED) return 1;
  if (name !== HEADLINE || typeof scores[JUDGED] !== "number") return 0;
  return 1 / OVERALL_PARTS.filter((part) => typeof scores[part] === "number").length;
}

/**
 * Each attempt's mean over the turns. If an attempt has not reached a turn, or its score is missing
 * there, the mean of the other attempts is used, as in comparisons. `pause` is awaited after each
 * attempt, because a scenario may have a thousand of them.
 */
async function toConversations(
  attempts: Map<number, Map<number, Cell>>,
  pause: () => Promise<void>,
): Promise<Conversation[]> {
  const valuesByTurn = new Map<number, number[]>();
  for (const cells of attempts.values()) {
    for (const [turn, { value }] of cells) {
      valuesByTurn.getOrInsertComputed(turn, () => [] as number[]).push(value);
    }
    await pause();
  }
  const means = new Map([...valuesByTurn].map(([turn, values]) => [turn, mean(values)!]));
  const conversations: Conversation[] = [];
  for (const cells of attempts.values()) {
    conversations.push(toConversation(cells, means));
    await pause();
  }
  return conversations;
}

/** `means` has every turn that an attempt has reached. */
function toConversation(cells: Map<number, Cell>, means: Map<number, number>): Conversation {
  const voted = [...cells.values()].filter(({ votes }) => votes > 0);
  const load = (votesOf: (cell: Cell) => number) =>
    voted.reduce((sum, cell) => sum + cell.weight ** 2 / votesOf(cell), 0) / means.size ** 2;
  return {
    value: mean([...means].map(([turn, average]) => cells.get(turn)?.value ?? average))!,
    voteLoad: load(({ votes }) => votes),
    voteLoadOfOne: load(() => 1),
  };
}
