import { z } from "zod";

/** The answer of `GET /scores`. */
export const ScoreList = z.object({
  scores: z.array(
    z.looseObject({
      name: z.string(),
      definition: z.string(),
      range: z.tuple([z.number(), z.number()]),
      method: z.string(),
      equals: z.string().optional().meta({
        description: "The implementation whose values it reproduces.",
      }),
      limits: z.string().optional().meta({ description: "What the score cannot tell." }),
    }).meta({ id: "ScoreDescription" }),
  ),
}).meta({ id: "ScoreList" });

/** The answer of `GET /scores/self-test`. */
export const SelfTestReport = z.object({
  passed: z.boolean(),
  pairs: z.int(),
  tolerance: z.number(),
  largest_deviation: z.number(),
  scores: z.record(
    z.string(),
    z.object({
      compared: z.int(),
      left_out: z.int(),
      largest_deviation: z.number().nullable(),
      note: z.string().optional(),
    }).meta({ id: "ScoreReplay" }),
  ),
  left_out: z.array(
    z.object({
      scores: z.array(z.string()),
      reason: z.string(),
      pairs: z.array(z.object({ reply: z.string(), reference: z.string() })),
    }).meta({ id: "LeftOutPairs" }),
  ),
}).meta({ id: "SelfTestReport" });
