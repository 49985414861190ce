import { AgreementLabel } from "../schemas/interaction_result.ts";
import { z } from "zod";
import type { Route } from "../../shared/http/router/router.ts";
import { jsonAnswer } from "../../shared/ops/api_description.ts";
import { RunSummary } from "../results/run_summary.ts";
import { createTurnHandlers, type TurnHandlerDeps } from "./turn_handlers.ts";
import { ScenarioPage, ShownTurn, TurnPage, TurnSearch } from "./schemas/look_schemas.ts";
import { BAD_QUERY, detail, paging, runPath, turnPath } from "./route_parts.ts";

const NOT_FOUND = { 404: "`not_found`: there is no such run, or no such turn in it" };

/** The routes of the turns and scenarios of a run, row by row. */
export function createTurnRoutes(deps: TurnHandlerDeps): Route[] {
  const turns = createTurnHandlers(deps);
  return [
    {
      method: "GET",
      path: "/runs/:id/turns",
      summary: "The turns of a run, sorted and filtered, also while it is running",
      params: {
        path: runPath,
        query: z.object({
          sort: z.string().optional().meta({
            description: "`position`, `seq`, `latency_ms`, `tokens` or a score; `-` in front: " +
              "downwards. Turns without a value come last.",
          }),
          ...paging({ usual: 100, most: 1_000 }),
          fields: z.string().optional().meta({
            description: "Fields of an interaction to add to each row, by commas; `all` for all.",
          }),
          max_chars: z.int().min(1).max(1_000_000).optional().meta({
            description: "Cuts the texts of these fields.",
          }),
          outcome: z.string().optional().meta({
            description: "Any of `passed`, `below`, `failed`, `missing`, `unscored`, by commas.",
          }),
          threshold: z.number().min(0).max(1).optional().meta({
            description: "From which `overall` a turn passes; the run's own if unset.",
          }),
          score: z.string().optional().meta({
            description: "What `min` and `max` are about; `overall` unless given.",
          }),
          min: z.number().optional().meta({ description: "The lowest score." }),
          max: z.number().optional().meta({ description: "The highest score." }),
          label_key: z.string().optional().meta({
            description: "The key of `reference_metadata` that `expected` and `found` are about.",
          }),
          expected: z.string().optional().meta({ description: "The label of the reference." }),
          found: z.string().optional().meta({
            description: "The label of the reply, `(none)` or `(failed)`.",
          }),
          scenario: z.int().min(0).optional().meta({
            description: "Its position in the batch, from 0.",
          }),
          scenario_id: z.string().optional().meta({ description: "Its id." }),
          attempt_id: z.int().min(1).optional().meta({ description: "From 1." }),
          turn: z.int().min(0).optional().meta({
            description: "Its position in the conversation, from 0.",
          }),
          text: z.string().max(1_000).optional().meta({
            description: "In the message, the reply or the reference, in any letter case.",
          }),
          latency_min: z.number().min(0).optional().meta({ description: "In milliseconds." }),
          latency_max: z.number().min(0).optional().meta({ description: "In milliseconds." }),
          agreement: AgreementLabel.optional().meta({
            description:
              "Whether the reply says what the reference says; a wrong value `contradicts` it, too.",
          }),
          graded: z.boolean().optional().meta({ description: "Whether a person graded it." }),
          baseline: z.string().optional().meta({
            description: "Another run: turns whose `overall` there differs by `change` or more.",
          }),
          change: z.number().min(0).max(1).optional().meta({ description: "0.1 unless given." }),
          siblings: z.boolean().optional().meta({
            description: "Adds the outcomes of all attempts at the same turn to each row.",
          }),
        }),
      },
      answers: { 200: jsonAnswer("A page of them.", TurnPage) },
      problems: { ...BAD_QUERY, ...NOT_FOUND },
      handler: turns.list,
    },
    {
      method: "GET",
      path: "/turns",
      summary: "The turns of all runs that contain a text, the newest runs first",
      params: {
        query: z.object({
          text: z.string().max(1_000).meta({
            description: "In the message, the reply or the reference, in any letter case.",
          }),
          cursor: z.string().optional().meta({
            description: "The `next_cursor` of the page before.",
          }),
          limit: z.int().min(1).max(100).optional().meta({
            description: "Runs with such turns; 20 if unset. A page may have fewer, also none.",
          }),
        }),
      },
      answers: { 200: jsonAnswer("A page of them, by run.", TurnSearch) },
      problems: BAD_QUERY,
      handler: turns.search,
    },
    {
      method: "GET",
      path: "/runs/:id/turns/:scenario/:attempt/:turn",
      summary: "One turn with its conversation",
      params: {
        path: turnPath,
      },
      answers: { 200: jsonAnswer("The turn.", ShownTurn) },
      problems: { ...BAD_QUERY, ...NOT_FOUND },
      handler: turns.show,
    },
    {
      method: "GET",
      path: "/runs/:id/summary",
      summary: "A run's averages, pass rates, labels and histograms, without its texts",
      params: { path: runPath, query: z.object({ detail }) },
      answers: { 200: jsonAnswer("The summary.", RunSummary) },
      problems: { ...BAD_QUERY, ...NOT_FOUND },
      handler: turns.summary,
    },
    {
      method: "GET",
      path: "/runs/:id/scenarios",
      summary: "The scenarios of a run with the score of each attempt",
      params: {
        path: runPath,
        query: z.object({
          sort: z.enum(["position", "stability"]).optional().meta({
            description: "`stability`: those that pass in some attempts only come first, then " +
              "those that never pass.",
          }),
          ...paging({ usual: 200, most: 1_000 }),
        }),
      },
      answers: { 200: jsonAnswer("A page of them.", ScenarioPage) },
      problems: { ...BAD_QUERY, ...NOT_FOUND },
      handler: turns.scenarios,
    },
  ];
}
