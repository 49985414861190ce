import { z } from "zod";
import type { Handler, Route } from "../../shared/http/router.ts";
import { jsonAnswer } from "../../shared/service/ops/api_description.ts";
import { Grade, GradeAgreement, GradeInput, PlacedGrade } from "../test/grades.ts";
import { paging, runPath, Share, turnPath, WRITE_PROBLEMS } from "./route_parts.ts";
import { notFound } from "../../shared/service/errors.ts";
import { type BodyLimits, readJson, readParams, readQuery } from "../../shared/http/body.ts";
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
