import { z } from "zod";

const UIPart = z.looseObject({ type: z.string() });
export type UIPart = z.infer<typeof UIPart>;

/** The body that `useChat` of the AI SDK sends. */
export const UIRequest = z.looseObject({
  id: z.string().min(1),
  messages: z.array(z.looseObject({
    id: z.string(),
    role: z.enum(["system", "user", "assistant"]),
    parts: z.array(UIPart),
  })).min(1),
}).meta({ id: "UIMessageRequest" });
export type UIRequest = z.infer<typeof UIRequest>;

/** AG-UI's `RunAgentInput`. */
export const RunAgentInput = z.looseObject({
  threadId: z.string(),
  runId: z.string(),
  messages: z.array(z.looseObject({ id: z.string(), role: z.string() })).min(1),
  tools: z.array(z.looseObject({
    name: z.string().min(1),
    description: z.string().nullish(),
    parameters: z.record(z.string(), z.unknown()).nullish(),
  })).nullish(),
  context: z.array(z.looseObject({ description: z.string(), value: z.string() })).nullish(),
}).meta({ id: "RunAgentInput" });
export type RunAgentInput = z.infer<typeof RunAgentInput>;
