import { z } from "zod";
import type { Route } from "../../shared/http/router/router.ts";
import { jsonAnswer } from "../../shared/ops/api_description.ts";
import { Agreement } from "../schemas/agreement.ts";
import { Grade, GradeInput, PlacedGrade } from "../schemas/grades.ts";
import { createGradeHandlers, type GradeDeps } from "./grade_handlers.ts";
import { paging, runPath, turnPath, WRITE_PROBLEMS } from "./route_parts.ts";

const PROBLEMS = {
  400: "`invalid_request`: a parameter or a field does not fit",
  404: "`not_found`: there is no such run, or no such turn in it",
};

/** The grades of one turn. */
const TurnGrades = z.object({
  /** The latest of each author. */
  grades: z.array(Grade),
  /** Every grade that the turn ever had, oldest first, and each withdrawal. */
  history: z.array(Grade),
}).meta({ id: "TurnGrades" });
export type TurnGrades = z.infer<typeof TurnGrades>;

const GradeList = z.object({
  grades: z.array(PlacedGrade),
  next_cursor: z.string().nullable(),
}).meta({ id: "GradeList" });
export type GradeList = z.infer<typeof GradeList>;

/** The routes about grades by people. */
export function createGradeRoutes(deps: GradeDeps): Route[] {
  const handlers = createGradeHandlers(deps);
  return [
    {
      method: "PUT",
      path: "/runs/:id/turns/:scenario/:attempt/:turn/grade",
      summary: "Grade a turn",
      params: { path: turnPath },
      body: { schema: GradeInput, example: { value: 0.5, comment: "too long", author: "ann" } },
      answers: { 200: jsonAnswer("The grade; earlier ones are kept.", PlacedGrade) },
      problems: { ...PROBLEMS, ...WRITE_PROBLEMS },
      handler: handlers.save,
    },
    {
      method: "DELETE",
      path: "/runs/:id/turns/:scenario/:attempt/:turn/grade",
      summary: "Withdraw a grade of a turn",
      params: {
        path: turnPath,
        query: z.object({
          author: z.string().optional().meta({
            description: "Whose grade; the one without an author if it is unset.",
          }),
        }),
      },
      answers: { 200: jsonAnswer("What was withdrawn; the history keeps it.", PlacedGrade) },
      problems: { ...PROBLEMS, ...WRITE_PROBLEMS },
      handler: handlers.withdraw,
    },
    {
      method: "GET",
      path: "/runs/:id/turns/:scenario/:attempt/:turn/grades",
      summary: "The grades of a turn, with their history",
      params: { path: turnPath },
      answers: { 200: jsonAnswer("The grades.", TurnGrades) },
      problems: PROBLEMS,
      handler: handlers.ofTurn,
    },
    {
      method: "GET",
      path: "/runs/:id/grades",
      summary: "The grades of a run, in the order of its batch",
      params: {
        path: runPath,
        query: z.object(paging({ usual: 200, most: 1_000 })),
      },
      answers: { 200: jsonAnswer("A page of them, the latest of each author.", GradeList) },
      problems: PROBLEMS,
      handler: handlers.list,
    },
    {
      method: "GET",
      path: "/runs/:id/agreement",
      summary: "Do people agree, and does the judge agree with them?",
      params: {
        path: runPath,
        query: z.object({
          score: z.string().optional().meta({
            description: "`judge` if it is unset, or `overall` in a run without a judge.",
          }),
          pass_threshold: z.number().min(0).max(1).optional().meta({
            description: "From which grade a person passes a turn; the run's own if unset.",
          }),
        }),
      },
      answers: { 200: jsonAnswer("The agreement.", Agreement) },
      problems: PROBLEMS,
      handler: handlers.agreement,
    },
  ];
}
