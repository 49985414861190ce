import { z } from "zod";

/** Whether a training file has a test. */
export const LeakVerdict = z.enum(["word_for_word", "near", "none"]).meta({ id: "LeakVerdict" });
export type LeakVerdict = z.infer<typeof LeakVerdict>;

/** The nearest text of a training file. */
export const LeakMatch = z.object({
  row: z.int().meta({ description: "Its line, from 1." }),
  text: z.string(),
  words: z.int().meta({ description: "The words in a row that both have, if they are many." }),
  similarity: z.number().meta({ description: "Of the meanings, up to 1." }),
}).meta({ id: "LeakMatch" });
export type LeakMatch = z.infer<typeof LeakMatch>;

/** A scenario and what is nearest to it in a training file. */
export const LeakedScenario = z.object({
  scenario: z.int().meta({ description: "Its position, from 0." }),
  scenario_id: z.string(),
  verdict: LeakVerdict,
  turn: z.int().meta({ description: "The turn whose text it is, from 0." }),
  test: z.string().meta({ description: "The text of the test." }),
  match: LeakMatch.nullable(),
}).meta({ id: "LeakedScenario" });
export type LeakedScenario = z.infer<typeof LeakedScenario>;

const Count = z.int();

/** A training file that a version of a dataset was compared with. */
export const LeakCheck = z.object({
  version: z.string().meta({ description: "Of the dataset." }),
  digest: z.string().meta({ description: "Of the file." }),
  file: z.string().meta({ description: "Its name; empty if it is not known." }),
  rows: Count,
  checked_at: z.string(),
  word_for_word: Count,
  near: Count,
}).meta({ id: "LeakCheck" });
export type LeakCheck = z.infer<typeof LeakCheck>;

/** A leak check with what was found. */
export const LeakReport = LeakCheck.extend({
  name: z.string(),
  scenarios: z.array(LeakedScenario),
}).meta({ id: "LeakReport" });
export type LeakReport = z.infer<typeof LeakReport>;

const ScenarioMean = z.object({
  scenarios: Count,
  mean: z.number().nullable().meta({ description: "Of `overall`; `null` if there is none." }),
}).meta({ id: "ScenarioMean" });

/** The score of a run over scenarios that no training file has, and over those that one has. */
export const RunLeaks = z.object({
  run_id: z.string(),
  checks: z.array(LeakCheck).meta({ description: "None: its scenarios were not checked." }),
  clean: ScenarioMean,
  leaked: ScenarioMean,
}).meta({ id: "RunLeaks" });
export type RunLeaks = z.infer<typeof RunLeaks>;
