import { z } from "zod";
import { AppError, notFound } from "../../shared/errors.ts";
import { readJson } from "../../shared/http/body/body.ts";
import { cursor, writeCursor } from "../../shared/http/body/cursor.ts";
import { readParams, readQuery } from "../../shared/http/body/query.ts";
import type { Handler } from "../../shared/http/router/router.ts";
import { GradeInput } from "../schemas/grades.ts";
import type { EvalConfig } from "../config.ts";
import { TurnPath } from "./list_parameters.ts";
import type { GradePosition, StoredGrade } from "../store/grades/grade.ts";
import type { TurnPosition } from "../store/turns/position.ts";
import type { RunStore } from "../store/store.ts";
import { placeGrade, viewGrade } from "../grades/grade_view.ts";
import { readAgreement } from "../grades/run_agreement.ts";
import { requireRun, turnNotFound } from "../store/runs/require_run.ts";

export interface GradeDeps {
  store: RunStore;
  config: Pick<EvalConfig, "MAX_BODY_BYTES" | "BODY_TIMEOUT_MS">;
}

const AgreementQuery = z.object({
  score: z.string().min(1).optional(),
  pass_threshold: z.coerce.number().min(0).max(1).optional(),
});

const WithdrawQuery = GradeInput.pick({ author: true });

const GradeListQuery = z.object({
  cursor: cursor(z.tuple([z.int32(), z.int32(), z.int32(), z.string()])).optional(),
  limit: z.coerce.number().int().min(1).max(1_000).default(200),
});

/** The handlers of the routes about grades by people. */
export function createGradeHandlers({ store, config }: GradeDeps) {
  return {
    save: async (request, { params }) => {
      const position = readPosition(params);
      const { value, label = null, comment = null, author = "" } = await readJson(
        request,
        GradeInput,
        { maxBytes: config.MAX_BODY_BYTES, timeoutMs: config.BODY_TIMEOUT_MS },
      );
      const run = await requireRun(store, params.id ?? "");
      const saved = await store.saveGrade(run.id, position, { value, label, comment, author });
      if (!saved) throw noTurn(run.id, position);
      return Response.json(placeGrade(saved, run));
    },

    withdraw: async (_request, { params, url }) => {
      const position = readPosition(params);
      const { author = "" } = readQuery(url, WithdrawQuery);
      const run = await requireRun(store, params.id ?? "");
      const withdrawn = await store.withdrawGrade(run.id, { ...position, author });
      if (withdrawn) return Response.json(placeGrade(withdrawn, run));
      const who = author === "" ? "without an author" : `of "${author}"`;
      throw notFound(`cannot withdraw the grade ${who}: this turn of run ${run.id} has none`);
    },

    ofTurn: async (_request, { params }) => {
      const position = readPosition(params);
      const run = await requireRun(store, params.id ?? "");
      const history = await store.gradeHistory(run.id, position);
      if (history.length === 0 && !await hasTurn(store, run.id, position)) {
        throw noTurn(run.id, position);
      }
      return Response.json({
        grades: latestOf(history).filter(({ withdrawn }) => !withdrawn).map(viewGrade),
        history: history.map(viewGrade),
      });
    },

    list: async (_request, { params, url }) => {
      const { cursor, limit } = readQuery(url, GradeListQuery);
      const run = await requireRun(store, params.id ?? "");
      const grades: StoredGrade[] = [];
      for await (const grade of store.grades(run.id, cursor && toPosition(cursor))) {
        grades.push(grade);
        if (grades.length > limit) break;
      }
      const page = grades.slice(0, limit);
      const last = grades.length > limit ? page.at(-1) : undefined;
      return Response.json({
        grades: page.map((grade) => placeGrade(grade, run)),
        next_cursor: last
          ? writeCursor([last.scenario, last.attempt, last.turn, last.author])
          : null,
      });
    },

    agreement: async (_request, { params, url }) => {
      const { score, pass_threshold: passThreshold } = readQuery(url, AgreementQuery);
      return Response.json(
        await readAgreement(store, await requireRun(store, params.id ?? ""), {
          score,
          passThreshold,
        }),
      );
    },
  } satisfies Record<string, Handler>;
}

/** Of each author. By version and not by time: the clock may have been set back. */
function latestOf(history: StoredGrade[]): StoredGrade[] {
  const latest = new Map<string, StoredGrade>();
  for (const grade of history) {
    const known = latest.get(grade.author);
    if (!known || known.version < grade.version) latest.set(grade.author, grade);
  }
  return [...latest.values()];
}

function readPosition(params: Readonly<Record<string, string>>): TurnPosition {
  const { scenario, attempt, turn } = readParams(params, TurnPath);
  return { scenario, attempt: attempt - 1, turn };
}

function toPosition(
  [scenario, attempt, turn, author]: [number, number, number, string],
): GradePosition {
  return { scenario, attempt, turn, author };
}

async function hasTurn(store: RunStore, id: string, position: TurnPosition): Promise<boolean> {
  const turns = await store.attemptTurns(id, position);
  return turns.some(({ turn }) => turn === position.turn);
}

/** A position counts attempts from 0. */
function noTurn(id: string, { attempt, ...place }: TurnPosition): AppError {
  return turnNotFound(id, { ...place, attempt: attempt + 1 });
}
