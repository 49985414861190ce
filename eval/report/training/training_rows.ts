import { conflict } from "../../../shared/service/errors.ts";
import { HELD_OUT } from "../../test/datasets.ts";
import type { RunTurn } from "../../figures/judge_preference.ts";
import type { StoredRun } from "../../store/run_record.ts";
import type { RunReader } from "../../store/store.ts";
import { type Said, type TrainingTurn, trainingTurns } from "./training_turns.ts";
import { conversationKeys, findTests } from "./tests_of_datasets.ts";

/** Why one reply is better than another, or good by itself; `score`: by the run's threshold. */
type Reason = "correction" | "people" | "score" | "judge";

/** Where a row comes from. */
export interface RowOrigin {
  run_id: string;
  scenario_id: string;
  attempt_id: number;
  turn: number;
  because: Reason;
  /** The person or the judge; `null` for a score, and for people without a name. */
  by: string | null;
}

/** A reply to learn from, or two of them, in no format yet. */
export interface TrainingRow {
  prompt: Said[];
  /** The tools that the model was offered. */
  tools: unknown[];
  /** Missing in a row that only says what is wrong. */
  chosen?: Said;
  rejected?: Said;
  origin: RowOrigin;
}

export const KINDS = ["sft", "dpo", "kto"] as const;
export type TrainingKind = (typeof KINDS)[number];

/** How many turns are not in the rows although they could be, by reason. */
export type LeftOutTurns = Record<string, number>;

export interface TrainingData {
  rows: TrainingRow[];
  leftOut: LeftOutTurns;
}

/** What a judge prefers. */
export interface JudgedPair {
  chosen: RunTurn;
  rejected: RunTurn;
  judge: string;
}

/**
 * The rows of some runs that have ended. What another dataset tests is left out, and everything of a
 * dataset that is held out. Throws 409 for a run of a dataset that is held out, or that has not
 * ended.
 */
export async function readTrainingData(
  reader: RunReader,
  { runs, kind, preferences = [] }: {
    runs: StoredRun[];
    kind: TrainingKind;
    preferences?: JudgedPair[];
  },
): Promise<TrainingData> {
  for (const run of runs) await requireUsable(reader, run);
  const tests = await findTests(reader, runs);
  const leftOut: LeftOutTurns = {};
  const leave = (reason: string) => leftOut[reason] = (leftOut[reason] ?? 0) + 1;
  const turns: TrainingTurn[] = [];
  for (const run of runs) {
    const keys = run.request.test_batch.map((scenario) => conversationKeys(scenario));
    for await (const turn of trainingTurns(reader, run)) {
      const reason = tests.whyNot(keys[turn.scenario]![turn.turn]!, run.datasetName) ??
        (turn.hasImages ? "images" : undefined);
      if (reason) leave(reason);
      else turns.push(turn);
    }
  }
  const rows = kind === "sft"
    ? sftRows(turns, leave)
    : kind === "kto"
    ? ktoRows(turns, leave)
    : dpoRows(turns, { preferences, leave });
  return { rows: distinct(rows), leftOut };
}

async function requireUsable(reader: RunReader, run: StoredRun): Promise<void> {
  const { id, datasetName } = run;
  if (datasetName === null) return;
  const tags = await reader.datasetTags(datasetName);
  if (!tags.includes(HELD_OUT)) return;
  throw conflict(
    `cannot export run ${id} as training data: its dataset "${datasetName}" is tagged ${HELD_OUT}`,
  );
}

type Leave = (reason: string) => void;

function sftRows(turns: TrainingTurn[], leave: Leave): TrainingRow[] {
  return turns.flatMap((turn) => {
    const good = goodReplies(turn, leave);
    if (good.length === 0) return [];
    if (!turn.goodPrompt) {
      leave("after_a_failing_reply");
      return [];
    }
    const prompt = turn.goodPrompt;
    return good.map(({ reply, because, by }) => ({
      ...rowOf(turn, { because, by }),
      prompt,
      chosen: reply,
    }));
  });
}

function ktoRows(turns: TrainingTurn[], leave: Leave): TrainingRow[] {
  return turns.flatMap((turn): TrainingRow[] => [
    ...goodReplies(turn, leave).map(({ reply, because, by }) => ({
      ...rowOf(turn, { because, by }),
      chosen: reply,
    })),
    ...turn.reply && turn.verdict === "failed"
      ? [{
        ...rowOf(turn, { because: turn.grades.length > 0 ? "people" : "score", by: null }),
        rejected: turn.reply,
      }]
      : [],
  ]);
}

/** Corrected replies; without any, the reply itself if it passed. */
function goodReplies(turn: TrainingTurn, leave: Leave) {
  const { corrections, reply, verdict, hidesToolResults, grades } = turn;
  if (corrections.length > 0) {
    return corrections.map(({ text, author: by }) => ({
      reply: toReply(text),
      because: "correction" as const,
      by,
    }));
  }
  if (!reply || verdict !== "passed") return [];
  if (hidesToolResults) {
    leave("tool_results_not_stored");
    return [];
  }
  return [{ reply, because: grades.length > 0 ? "people" as const : "score" as const, by: null }];
}

function dpoRows(
  turns: TrainingTurn[],
  { preferences, leave }: { preferences: JudgedPair[]; leave: Leave },
): TrainingRow[] {
  const rows: TrainingRow[] = [];
  for (const turn of turns) {
    if (!turn.reply) continue;
    for (const { text, author: by } of turn.corrections) {
      rows.push({
        ...rowOf(turn, { because: "correction", by }),
        chosen: toReply(text),
        rejected: turn.reply,
      });
    }
  }
  const pair = (
    better: TrainingTurn,
    worse: TrainingTurn,
    why: Pick<RowOrigin, "because" | "by">,
  ) =>
    better.hidesToolResults
      ? leave("tool_results_not_stored")
      : rows.push({ ...rowOf(worse, why), chosen: better.reply!, rejected: worse.reply! });
  const asked = Map.groupBy(
    turns.filter(({ reply }) => reply),
    ({ prompt, run }) => JSON.stringify([prompt, toolsOf(run)]),
  );
  for (const same of asked.values()) {
    for (const worse of same) {
      if (worse.corrections.length > 0) continue;
      const better = bestOver(worse, same);
      if (better) pair(better.turn, worse, better.why);
    }
  }
  const places = new Map(turns.map((turn) => [placeOf({ ...turn, runId: turn.run.id }), turn]));
  for (const { chosen, rejected, judge } of preferences) {
    const [better, worse] = [places.get(placeOf(chosen)), places.get(placeOf(rejected))];
    // The history of a later turn differs between runs: it is no choice between two replies.
    if (!better?.reply || !worse?.reply) continue;
    if (JSON.stringify(better.prompt) !== JSON.stringify(worse.prompt)) leave("other_history");
    else pair(better, worse, { because: "judge", by: judge });
  }
  return rows;
}

/** The best reply to the same prompt that people prefer, or that passed where this one failed. */
function bestOver(
  worse: TrainingTurn,
  same: TrainingTurn[],
): { turn: TrainingTurn; why: Pick<RowOrigin, "because" | "by"> } | undefined {
  const others = same.filter((turn) => turn.reply!.content !== worse.reply!.content)
    .toSorted((a, b) => (b.overall ?? 0) - (a.overall ?? 0));
  for (const turn of others) {
    const author = preferringAuthor(turn, worse);
    if (author) return { turn, why: { because: "people", by: author.name } };
  }
  const passed = worse.verdict === "failed" &&
    others.find((turn) => turn.verdict === "passed" && !preferringAuthor(worse, turn));
  return passed ? { turn: passed, why: { because: "score", by: null } } : undefined;
}

/** Somebody who graded both and this one higher, if nobody graded it lower. */
function preferringAuthor(better: TrainingTurn, worse: TrainingTurn) {
  const both = better.grades.flatMap(({ author, value }) => {
    const other = worse.grades.find((grade) => grade.author === author);
    return other ? [{ name: author, difference: value - other.value }] : [];
  });
  if (both.some(({ difference }) => difference < 0)) return undefined;
  return both.find(({ difference }) => difference > 0);
}

function rowOf(
  { run, scenario, attempt, turn, prompt }: TrainingTurn,
  { because, by }: Pick<RowOrigin, "because" | "by">,
) {
  return {
    prompt,
    tools: toolsOf(run),
    origin: {
      run_id: run.id,
      scenario_id: run.request.test_batch[scenario]!.id,
      attempt_id: attempt + 1,
      turn,
      because,
      by,
    },
  };
}

function toolsOf({ request: { parameters } }: StoredRun): unknown[] {
  return Array.isArray(parameters.tools) ? parameters.tools : [];
}

function toReply(content: string): Said {
  return { role: "assistant", content };
}

function placeOf({ runId, scenario, attempt, turn }: RunTurn): string {
  return JSON.stringify([runId, scenario, attempt, turn]);
}

/** Attempts often give the same reply. */
function distinct(rows: TrainingRow[]): TrainingRow[] {
  const seen = new Set<string>();
  return rows.filter(({ origin: _, ...row }) => {
    const text = JSON.stringify(row);
    return !seen.has(text) && seen.add(text);
  });
}
