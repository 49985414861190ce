import { z } from "zod";
import { AppError } from "../../shared/service/errors.ts";
import { createYielder } from "../../shared/service/waiting.ts";
import type { JudgeModel } from "../score/judge_model.ts";
import { referenceOf } from "../score/references.ts";
import type { InteractionResult } from "../test/interaction_result.ts";
import { isUnanswered } from "../test/barred.ts";
import { runDeleted } from "../store/require_run.ts";
import type { RunReader } from "../store/store.ts";
import type { TurnPosition } from "../store/turn_record.ts";
import { SEED } from "./compare.ts";
import { comparableRuns } from "./compare_stored.ts";
import { correct, describeScore, testScores } from "./compare/compare_scores.ts";
import { createLeftOutCounter, ScoreComparison, ScoreVerdict } from "./comparison.ts";
import { pairRuns, type PlacedTurnPair } from "./compare/paired_runs.ts";
import type { AttemptTurn } from "./turn_scores.ts";
import { decideVerdict, undecidable } from "./verdict.ts";
import { askVotes, type VoteOptions } from "../score/judge_structured.ts";

const RUBRIC = "The better reply helps the user more: right facts, nothing made up, the outcome " +
  "that was asked for. Order, length and style do not matter. If both are about as good or as " +
  "bad, say tie.";

/**
 * Which of two replies the judge prefers: 0 or 1, `tie`, or an error. It is asked in both orders,
 * because judges favour the first reply: a preference that changes with the order is
 * `contradictory`. Rejects once aborted.
 */
async function preferReply(
  { userMessage, reference, replies: [a, b], rubric = RUBRIC }: {
    userMessage: string;
    reference: string | undefined;
    replies: [string, string];
    rubric: string | undefined;
  },
  options: Omit<VoteOptions, "votes">,
): Promise<0 | 1 | "tie" | "contradictory" | { error: string }> {
  const [straight, swapped] = await Promise.all([false, true].map(async (isSwapped) => {
    const [vote] = await askVotes({
      name: "preference",
      instructions: "You say which of two replies to the same message is better.\n\n" + rubric,
      texts: {
        user_message: userMessage,
        reference,
        first_reply: isSwapped ? b : a,
        second_reply: isSwapped ? a : b,
      },
      verdict: "verdict",
      form: '"better": "first", "second" or "tie"',
      fields: { better: z.enum(["first", "second", "tie"]) },
    }, { ...options, votes: 1 });
    if (typeof vote === "string") return { error: vote };
    if (vote!.better === "tie") return "tie";
    return (vote!.better === "first") !== isSwapped ? 0 : 1;
  }));
  if (typeof straight === "object") return straight;
  if (typeof swapped === "object") return swapped;
  if (straight === swapped) return straight!;
  return straight === "tie" || swapped === "tie" ? "tie" : "contradictory";
}

/** The judge's preference between the replies of two runs. */
export const Preference = ScoreVerdict.extend({
  judge: z.string(),
  /** Turns whose reply the judge preferred in both orders. A failed call loses. */
  baseline_better: z.int(),
  candidate_better: z.int(),
  /** Turns without a preference, and those whose preference changed with the order. */
  ties: z.int(),
  contradictory: z.int(),
  /** Turns that could not be judged, by reason. */
  missing: z.record(z.string(), z.int()),
  /** A preferred reply counts 1, the other one 0, ties 0.5. */
  score: ScoreComparison.optional(),
}).meta({ id: "Preference" });
export type Preference = z.infer<typeof Preference>;

/** Throws 400 if no judge is configured. */
export function requireJudge(judge: JudgeModel | undefined): JudgeModel {
  if (judge) return judge;
  const message = "cannot ask the judge: none is configured (JUDGE_BASE_URL, JUDGE_MODEL)";
  throw new AppError(400, "invalid_request", message);
}

type Side = "baseline" | "candidate";

/** A turn in a run. */
export interface RunTurn extends TurnPosition {
  runId: string;
}

const NAME = "preference";
/** Two calls of the judge each. */
const MOST_TURNS = 1_000;
const AT_ONCE = 8;

/**
 * Has the judge compare the replies of two runs, turn by turn in their first attempts. The
 * preferences are tested like scores: scenarios are the sample, and turns that could not be judged
 * are missing. Throws 404 if a run is missing, 400 if they share too many turns.
 */
export async function compareByJudge(
  reader: RunReader,
  ids: { baseline: string; candidate: string },
  { judge, signal, onPreference }: {
    judge: JudgeModel;
    signal: AbortSignal;
    /** Called for each reply that the judge prefers to the other one. */
    onPreference?: (chosen: RunTurn, rejected: RunTurn) => void;
  },
): Promise<Preference> {
  const { runs, stored } = await comparableRuns(reader, ids);
  const pause = createYielder();
  const { pairs } = await pairRuns(runs, pause);
  const turns = pairs.flatMap(({ index, turns }) => turns.map((turn) => ({ index, turn })));
  if (turns.length > MOST_TURNS) {
    throw new AppError(
      400,
      "invalid_request",
      `cannot judge ${turns.length} turns: the judge compares at most ${MOST_TURNS}`,
    );
  }
  const counts = { baseline_better: 0, candidate_better: 0, ties: 0, contradictory: 0 };
  const missing: Record<string, number> = {};
  const judged = new Map<PlacedTurnPair, { baseline: AttemptTurn; candidate: AttemptTurn }>();
  const rubric = stored.candidate.request.rubric;

  const placeOf = (side: Side, { index, turn }: (typeof turns)[number]) => ({
    scenario: index[side],
    attempt: turn[side][0]!.attempt,
    turn: turn.index[side],
  });

  async function read(side: Side, one: (typeof turns)[number]) {
    const place = placeOf(side, one);
    const [found] = await reader.conversation(ids[side], place, 1);
    if (!found) throw runDeleted(ids[side]);
    return JSON.parse(found.resultJson!) as InteractionResult;
  }

  async function judgeTurn(one: (typeof turns)[number]): Promise<void> {
    const [before, now] = [await read("baseline", one), await read("candidate", one)];
    if (before.user_message !== now.user_message) return;
    const note = (candidate: number | null) =>
      judged.set(one.turn, {
        baseline: toTurn(before, candidate === null ? null : 1 - candidate, judge.name),
        candidate: toTurn(now, candidate, judge.name),
      });
    if (before.error || now.error) {
      if (before.error && now.error) counts.ties++;
      else counts[before.error ? "candidate_better" : "baseline_better"]++;
      return void note(now.error ? 0 : 1);
    }
    const preferred = await preferReply({
      userMessage: now.user_message,
      reference: referenceOf(now),
      replies: [before.agent_reply, now.agent_reply],
      rubric,
    }, { model: judge, signal });
    if (typeof preferred === "object") {
      missing[preferred.error] = (missing[preferred.error] ?? 0) + 1;
      return void note(null);
    }
    if (preferred === "tie" || preferred === "contradictory") {
      counts[preferred === "tie" ? "ties" : "contradictory"]++;
      return void note(0.5);
    }
    const [better, worse]: [Side, Side] = preferred === 0
      ? ["baseline", "candidate"]
      : ["candidate", "baseline"];
    counts[`${better}_better`]++;
    onPreference?.(
      { runId: ids[better], ...placeOf(better, one) },
      { runId: ids[worse], ...placeOf(worse, one) },
    );
    note(preferred);
  }

  const left = turns.values();
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (const one of left) await judgeTurn(one);
  }));

  const judgedPairs = pairs.map((pair) => ({
    ...pair,
    turns: pair.turns.flatMap((turn) => {
      const found = judged.get(turn);
      return found ? [{ baseline: [found.baseline], candidate: [found.candidate] }] : [];
    }),
  })).filter(({ turns }) => turns.length > 0);
  const leftOut = createLeftOutCounter();
  const options = { names: [NAME], decideBy: NAME, seed: SEED, leftOut, pause };
  const { deciding } = await testScores(judgedPairs, options);
  const [counted, known, scored] = deciding
    ? [deciding.test, deciding.known, deciding.scored].map((test) => correct([test])[0]!)
    : [];
  const decision = deciding
    ? decideVerdict(deciding, { counted: counted!, known: known!, scored: scored! })
    : undecidable(NAME, "the runs have no turn in common that could be judged");
  return {
    ...decision,
    judge: judge.name,
    ...counts,
    missing,
    ...(deciding && { score: describeScore(deciding.means, counted!) }),
  };
}

function toTurn(result: InteractionResult, value: number | null, judge: string): AttemptTurn {
  return {
    attempt: 0,
    failed: result.error !== undefined,
    truncated: false,
    unanswered: isUnanswered(result),
    scores: result.error ? {} : { [NAME]: value },
    missing: new Set(value === null ? [NAME] : []),
    methods: { [NAME]: judge },
    matches: null,
  };
}
