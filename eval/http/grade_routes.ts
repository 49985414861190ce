import { z } from "zod";
import type { Handler, Route } from "../../shared/http/router.ts";
import { jsonAnswer } from "../../shared/service/ops/api_description.ts";
import { Grade, GradeAgreement, GradeInput, PlacedGrade } from "../test/grades.ts";
import { paging, runPath, Share, turnPath, WRITE_PROBLEMS } from "./route_parts.ts";
import { AppError, notFound } from "../../shared/service/errors.ts";
import { listFieldErrors } from "../../shared/service/field_errors.ts";
import { tryParseJson } from "../../shared/service/fields.ts";
import type { StoredRun } from "../store/run_record.ts";
import {
  type BodyLimits,
  readBodyPieces,
  readJson,
  readParams,
  readQuery,
} from "../../shared/http/body.ts";
import { cursor, writeCursor } from "../../shared/http/cursor.ts";
import type { GradePosition, StoredGrade } from "../store/grades.ts";
import type { TurnPosition } from "../store/turn_record.ts";
import type { RunStore } from "../store/store.ts";
import { placeGrade, toGrade, viewGrade } from "../figures/graded_reader.ts";
import { readGradeAgreement } from "../figures/rater_agreement.ts";
import { requireRun, turnNotFound } from "../store/require_run.ts";

const PROBLEMS = {
  400: "`invalid_request`: a parameter or a field does not fit",
  404: "`not_found`: there is no such run, or no such turn in it",
};

const TurnGrades = z.object({ grades: z.array(Grade) }).meta({ id: "TurnGrades" });
export type TurnGrades = z.infer<typeof TurnGrades>;

const GradeList = z.object({
  grades: z.array(PlacedGrade),
  next_cursor: z.string().nullable(),
}).meta({ id: "GradeList" });
export type GradeList = z.infer<typeof GradeList>;

const AgreementQuery = z.object({
  score: z.string().min(1).optional().meta({
    description: "`judge` if it is unset, or `overall` in a run without a judge.",
  }),
  pass_threshold: Share.optional().meta({
    description: "From which grade a person passes a turn; the run's own if unset.",
  }),
});

const DeleteQuery = z.object({
  author: GradeInput.shape.author.meta({
    description: "Whose grade; the one without an author if it is unset.",
  }),
});

const GradeListQuery = z.object(
  paging(cursor(z.tuple([z.int32(), z.int32(), z.int32(), z.string()])), {
    usual: 200,
    most: 1_000,
  }),
);

/** A line of a file of grades. */
const GradeLine = GradeInput.extend({
  /** `null` deletes the author's grade. */
  value: GradeInput.shape.value.nullable(),
  scenario: z.int().min(0),
  attempt_id: z.int().min(1),
  turn: z.int().min(0),
});
const PLACE = { scenario: 0, attempt_id: 1, turn: 0 };
const LINES = z.string().meta({
  description: "Per line a grade with its `scenario`, `attempt_id` and `turn`; a `value` of null " +
    "deletes the author's.",
});
const StoredGrades = z.object({ stored: z.int() }).meta({ id: "StoredGrades" });

export function createGradeRoutes(deps: GradeDeps): Route[] {
  const handlers = createGradeHandlers(deps);
  return [
    {
      method: "PUT",
      path: "/runs/:id/turns/:scenario/:attempt/:turn/grade",
      summary: "Grade a turn",
      params: { path: turnPath },
      body: { schema: GradeInput, example: { value: 0.5, comment: "too long", author: "ann" } },
      answers: { 200: jsonAnswer("The grade. It replaces the author's earlier one.", PlacedGrade) },
      problems: { ...PROBLEMS, ...WRITE_PROBLEMS },
      handler: handlers.save,
    },
    {
      method: "DELETE",
      path: "/runs/:id/turns/:scenario/:attempt/:turn/grade",
      summary: "Delete a grade of a turn",
      params: { path: turnPath, query: DeleteQuery },
      answers: { 200: jsonAnswer("What was deleted.", PlacedGrade) },
      problems: { ...PROBLEMS, ...WRITE_PROBLEMS },
      handler: handlers.remove,
    },
    {
      method: "GET",
      path: "/runs/:id/turns/:scenario/:attempt/:turn/grades",
      summary: "The grades of a turn",
      params: { path: turnPath },
      answers: { 200: jsonAnswer("The grades.", TurnGrades) },
      problems: PROBLEMS,
      handler: handlers.ofTurn,
    },
    {
      method: "GET",
      path: "/runs/:id/grades",
      summary: "The grades of a run, in the order of its batch",
      params: { path: runPath, query: GradeListQuery },
      answers: { 200: jsonAnswer("A page of them.", GradeList) },
      problems: PROBLEMS,
      handler: handlers.list,
    },
    {
      method: "PUT",
      path: "/runs/:id/grades",
      summary: "Store the grades of a file, or none of them if one cannot be stored",
      params: { path: runPath },
      files: {
        "application/jsonl": { schema: LINES, example: JSON.stringify({ ...PLACE, value: 0.5 }) },
      },
      answers: { 200: jsonAnswer("How many were stored or deleted.", StoredGrades) },
      problems: { ...PROBLEMS, ...WRITE_PROBLEMS },
      handler: handlers.store,
    },
    {
      method: "GET",
      path: "/runs/:id/agreement",
      summary: "Do people agree, and does the judge agree with them?",
      params: { path: runPath, query: AgreementQuery },
      answers: { 200: jsonAnswer("The agreement.", GradeAgreement) },
      problems: PROBLEMS,
      handler: handlers.agreement,
    },
  ];
}

interface GradeDeps {
  store: RunStore;
  bodyLimits: BodyLimits;
}

function createGradeHandlers({ store, bodyLimits }: GradeDeps) {
  return {
    save: async (request, { params }) => {
      const position = readPosition(params);
      const input = await readJson(request, GradeInput, bodyLimits);
      const run = await requireRun(store, params.id ?? "");
      const saved = await store.saveGrade(run.id, position, toGrade(input));
      if (!saved) throw turnNotFound(run.id, position);
      return Response.json(placeGrade(saved, run));
    },

    remove: async (_request, { params, url }) => {
      const position = readPosition(params);
      const { author = "" } = readQuery(url, DeleteQuery);
      const run = await requireRun(store, params.id ?? "");
      const deleted = await store.deleteGrade(run.id, { ...position, author });
      if (deleted) return Response.json(placeGrade(deleted, run));
      const who = author === "" ? "without an author" : `of "${author}"`;
      throw notFound(`cannot delete the grade ${who}: this turn of run ${run.id} has none`);
    },

    ofTurn: async (_request, { params }) => {
      const position = readPosition(params);
      const run = await requireRun(store, params.id ?? "");
      const grades = await store.turnGrades(run.id, position);
      if (grades.length === 0 && !await hasTurn(store, run.id, position)) {
        throw turnNotFound(run.id, position);
      }
      return Response.json({ grades: grades.map(viewGrade) });
    },

    store: async (request, { params }) => {
      const text = await Array.fromAsync(readBodyPieces(request, bodyLimits));
      const lines = parseLines(text.join(""));
      const run = await requireRun(store, params.id ?? "");
      await requireStorable(run, { lines, store });
      for (const { number, grade } of lines) {
        const { value, author = "" } = grade;
        const position = { ...grade, attempt: grade.attempt_id - 1 };
        const saved = value === null
          ? await store.deleteGrade(run.id, { ...position, author })
          : await store.saveGrade(run.id, position, toGrade({ ...grade, value }));
        if (!saved) throw unusable(number, "the turn or its grade was deleted meanwhile");
      }
      return Response.json({ stored: lines.length });
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
        await readGradeAgreement(store, await requireRun(store, params.id ?? ""), {
          score,
          passThreshold,
        }),
      );
    },
  } satisfies Record<string, Handler>;
}

interface Line {
  /** Counted from 1. */
  number: number;
  grade: z.infer<typeof GradeLine>;
}

function parseLines(text: string): Line[] {
  return text.replace(/^\ufeff/, "").split("\n").flatMap((line, index) => {
    if (line.trim() === "") return [];
    const value = tryParseJson(line);
    if (value === undefined) throw unusable(index + 1, "it is not JSON");
    const result = GradeLine.safeParse(value);
    if (result.success) return [{ number: index + 1, grade: result.data }];
    const errors = listFieldErrors(result.error, value);
    const reasons = errors.map(({ path, message }) =>
      path === "" ? message : `${path}: ${message}`
    );
    throw unusable(index + 1, reasons.join("; "));
  });
}

/** Throws 400 at the first line whose turn, or whose grade to delete, is not stored. */
async function requireStorable(
  run: StoredRun,
  { lines, store }: { lines: Line[]; store: RunStore },
): Promise<void> {
  const nameOf = (...parts: (number | string)[]) => JSON.stringify(parts);
  const turns = new Set<string>();
  for await (const page of store.turnPages(run.id)) {
    for (const { scenario, attempt, turn } of page) turns.add(nameOf(scenario, attempt, turn));
  }
  const graded = new Set<string>();
  for await (const { scenario, attempt, turn, author } of store.grades(run.id)) {
    graded.add(nameOf(scenario, attempt, turn, author));
  }
  for (const { number, grade: { scenario, attempt_id, turn, value, author = "" } } of lines) {
    const place = [scenario, attempt_id - 1, turn] as const;
    const name = nameOf(...place, author);
    const what = `the grade of turn ${scenario}/${attempt_id}/${turn}`;
    if (value !== null) graded.add(name);
    else if (!graded.delete(name)) throw unusable(number, `cannot delete ${what}: there is none`);
    if (turns.has(nameOf(...place))) continue;
    throw unusable(number, `cannot import ${what}: the turn is not stored`);
  }
}

function unusable(line: number, reason: string): AppError {
  const detail = `cannot import the grades: line ${line}: ${reason}; no grade was imported`;
  const errors = [{ path: String(line), message: reason }];
  return new AppError(400, "invalid_request", detail, { errors });
}

function readPosition(params: Readonly<Record<string, string>>): TurnPosition {
  const { scenario, attempt, turn } = readParams(params, turnPath);
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
