import { secretsInAddress } from "../../shared/service/log.ts";
import { z } from "zod";
import { refuseMisspelt } from "../../shared/service/field_errors.ts";
import { asFields, asList, isFields } from "../../shared/service/fields.ts";
import { Id, Scenario } from "./scenario.ts";

const LONGEST_ADDRESS = 2_048;
const LONGEST_NAME = 256;

/** Batches that were sent as one scenario instead of a list. */
const sentAsOne = new WeakSet<Scenario[]>();

/** The path of a scenario in the request: `test_batch`, or `test_batch.3`. */
export function batchPath(batch: Scenario[], index: number): string {
  return sentAsOne.has(batch) ? "test_batch" : `test_batch.${index}`;
}

function asBatch(scenario: Scenario): Scenario[] {
  const batch = [scenario];
  sentAsOne.add(batch);
  return batch;
}

/** The protocol of an endpoint; see `eval/ask/target.ts`. */
export const Protocol = z.enum(["openai", "agent"]).meta({ id: "Protocol" });
export type Protocol = z.infer<typeof Protocol>;

/** Parameters that the service sets itself. */
const OWN_SETTINGS = ["model", "messages", "stream", "stream_options", "n"];

/** Passed on to the model, including parameters not listed here such as `top_p`. */
export const ModelParameters = z.looseObject({
  temperature: z.number().min(0).optional().meta({ description: "The provider's own if unset." }),
  max_tokens: z.int().min(1).optional().meta({ description: "The most tokens of a reply." }),
  seed: z.int().optional().meta({ description: "For models that repeat a reply by its seed." }),
  system_prompt: z.string().min(1).optional().meta({
    description: "The system message of every conversation.",
  }),
}).superRefine(refuseMisspelt(["temperature", "system_prompt"])).superRefine(
  (settings, { addIssue }) => {
    for (const name of OWN_SETTINGS.filter((name) => Object.hasOwn(settings, name))) {
      addIssue({ code: "custom", path: [name], message: "is set by the service" });
    }
  },
).meta({
  id: "ModelParameters",
  description: "Passed on to the model under test as they are, also others such as `top_p`, " +
    `\`reasoning_effort\`, \`stop\`. Refused: ${OWN_SETTINGS.join(", ")}.`,
});
export type ModelParameters = z.infer<typeof ModelParameters>;

const MOST_REPLIES = 100_000;

/**
 * A reply that exists already. Its place is named by the ids of scenario and interaction or by their
 * positions; in a stored request it has the positions.
 */
export const GivenReply = z.looseObject({
  scenario_id: Id.optional(),
  scenario: z.int().min(0).optional().meta({ description: "Its position, counted from 0." }),
  interaction_id: Id.optional(),
  turn: z.int().min(0).optional().meta({
    description: "The position in the conversation, counted from 0; unset in one of a single turn.",
  }),
  attempt_id: z.int().min(1).optional().meta({
    description: "From 1. If unset, the second reply of a turn is that of attempt 2, and so on.",
  }),
  agent_reply: z.string(),
}).meta({ id: "GivenReply", description: "A reply that is scored without asking a model." });
export type GivenReply = z.infer<typeof GivenReply>;

/** What a run may spend. At the limit it ends as `interrupted` and can be resumed. */
export const Budget = z.strictObject({
  tokens: z.int().min(1).optional().meta({
    description: "Input and output of the model under test.",
  }),
  cost: z.number().positive().optional().meta({
    description: "Of the model and the judge, in the currency of `PRICES`.",
  }),
}).meta({ id: "Budget", description: "What a run may spend before it ends." });

/** The name of a model at its endpoint. */
export const ModelId = Id.trim().min(1);

/** The address of a model under test. */
export const Endpoint = z.url({
  protocol: /^https?$/,
  error: "must be an http or https URL",
  abort: true,
})
  .max(LONGEST_ADDRESS, { error: `must have at most ${LONGEST_ADDRESS} characters` })
  .refine((url) => new URL(url).username === "" && new URL(url).password === "", {
    error: "must not contain a user name or a password: the service has its own credentials",
  })
  .refine((url) => secretsInAddress(url).every((secret) => secret === ""), {
    error: "must not have a secret in its query, which is stored: put it into EVAL_CREDENTIALS",
  });

/**
 * The history of a turn: the generated replies or the references; `both` is a run of each, which are
 * compared. `generated` if unset.
 */
export const History = z.enum(["generated", "reference", "both"]).meta({ id: "History" });
export type History = z.infer<typeof History>;

const MOST_SCORERS = 10;

export const WebhookScorer = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, {
    error: "must be a name such as politeness: small letters, digits and _",
  }).meta({ description: "The name of the score." }),
  url: Endpoint.refine((url) => !/[?#]/.test(url), {
    error: "must not have a query: a key belongs into EVAL_CREDENTIALS",
  }).meta({ description: "Gets each turn as JSON, and answers `{score, reason}`." }),
}).meta({ id: "WebhookScorer", description: "A service of the caller's own that scores turns." });
export type WebhookScorer = z.infer<typeof WebhookScorer>;

export const WebhookScorers = z.array(WebhookScorer).max(MOST_SCORERS).superRefine(
  (scorers, { addIssue }) => {
    for (const [index, { name }] of scorers.entries()) {
      if (scorers.findIndex((other) => other.name === name) === index) continue;
      addIssue({ code: "custom", path: [index, "name"], message: "is the name of another scorer" });
    }
  },
);

/** The body of `POST /evaluate`. `maxAttempts` limits the cost of a request. */
export function evaluateRequest(maxAttempts: number) {
  const fields = {
    test_batch: z.union([Scenario.transform(asBatch), z.array(Scenario).min(1)]),
    endpoint: Endpoint.optional(),
    replies: z.array(GivenReply).max(MOST_REPLIES).optional().meta({
      description: "Replies that exist already, without an `endpoint`: for scenarios that do not " +
        "have them in `agent_reply`.",
    }),
    model_id: ModelId,
    attempts: z.int().min(1).max(maxAttempts).default(1).meta({
      description: "How often each conversation is run, up to `EVAL_MAX_ATTEMPTS`.",
    }),
    test_name: z.string().optional().meta({
      description:
        "The name of the test in lists and reports. If unset: the dataset's name, the id of a " +
        "single scenario, or `batch-` and a digest.",
    }),
    protocol: Protocol.optional().meta({ description: "How it is asked; found out if unset." }),
    parameters: ModelParameters.default({}).meta({ description: "For the model." }),
    budget: Budget.optional().meta({ description: "What the run may spend before it ends." }),
    pass_threshold: z.number().min(0).max(1).optional().meta({
      description: "The `overall` from which a turn passes; 0.7 if unset.",
    }),
    rubric: z.string().trim().min(1).optional().meta({
      description: "Instructions for the judge.",
    }),
    judge_votes: z.int().min(1).max(9).optional().meta({
      description: "How often the judge is asked for each turn; 1 if unset.",
    }),
    history: History.optional().meta({
      description:
        "What turns are asked after: the generated replies (if unset), the references, " +
        "or both, each in a conversation of its own.",
    }),
    scorers: WebhookScorers.optional().meta({
      description: "Services of your own that score each turn beside the built-in scores.",
    }),
    stream_replies: z.boolean().optional().meta({
      description:
        "`true`: replies are asked for as streams, and turns have `first_token_ms`. Also " +
        "with a check `max_first_token_ms`. Not over the agent's protocol.",
    }),
    only: z.array(z.string().min(1)).min(1).max(1_000).optional().meta({
      description:
        "Only these scenarios: an id, one of their `tags`, or `failed:RUN`, those that " +
        "did not pass in every attempt of that run.",
    }),
    /** In a run that scores another one again: what differs from its measure. */
    rescored: z.array(z.string()).optional(),
    /** Instead of `test_batch`; a stored request has both, and `name@version` here. */
    dataset: z.string().optional(),
  };
  return requestOf(fields).refine(
    (body) => [body.endpoint, body.replies, body.dataset].some(Boolean) || hasReply(body),
    // also beside other errors
    { path: ["endpoint"], error: "is missing", when: ({ value }) => isFields(value) },
  );
}

/** Whether a body has the reply of an interaction; it may not be valid. */
export function hasReply({ test_batch }: Record<string, unknown>): boolean {
  return asList([test_batch].flat()).some((scenario) =>
    asList(asFields(scenario).interactions).some((turn) => Boolean(asFields(turn).agent_reply))
  );
}

/** A body with these fields. Others are kept, unless they seem misspelt. */
export function requestOf<T extends z.ZodRawShape>(fields: T) {
  return z.looseObject(fields)
    .superRefine(refuseMisspelt([...Object.keys(fields), "model_ids", "targets"]));
}
export type EvaluateRequest = z.infer<ReturnType<typeof evaluateRequest>>;
/** A request whose replies are asked for. */
export type AskingRequest = EvaluateRequest & { endpoint: string };

/** The most models per request; the limit on concurrent runs may be lower. */
export const MAX_TARGETS = 20;

export const EvaluateTarget = z.strictObject({
  endpoint: Endpoint.meta({ description: "What `endpoint` of the request takes." }),
  model_id: ModelId.meta({ description: "The model at that endpoint." }),
  name: z.string().trim().min(1).max(LONGEST_NAME).optional().meta({
    description: "What tables call it; the model's id if unset.",
  }),
}).meta({ id: "EvaluateTarget", description: "One of the models that a request evaluates." });
export type EvaluateTarget = z.infer<typeof EvaluateTarget>;

/** A model of a group, with a unique name in it. */
export type NamedTarget = EvaluateTarget & { name: string; history?: History };

/** Several models at one endpoint. */
function modelIds(most: number) {
  return z.array(ModelId).min(1).max(most, { error: tooMany(most) }).superRefine(
    (ids, context) => {
      for (const [index, id] of ids.entries()) {
        const first = ids.indexOf(id);
        if (first === index) continue;
        refuse(context, { path: [index], message: `is the same as model_ids.${first}` });
      }
    },
  );
}

/** Models at any endpoints, each with its name. */
function targets(most: number) {
  return z.array(EvaluateTarget).min(1).max(most, { error: tooMany(most) })
    .transform((all, context): NamedTarget[] => {
      const named = nameTargets(all);
      for (const [index, { name, model_id, endpoint }] of named.entries()) {
        const same = all.findIndex((other) =>
          other.model_id === model_id && other.endpoint === endpoint
        );
        const namesake = named.findIndex((other) => other.name === name);
        if (same < index) {
          refuse(context, { path: [index], message: `is the same as targets.${same}` });
        } else if (namesake < index) {
          const message = `must not be "${name}", which is the name of targets.${namesake}`;
          refuse(context, { path: [index, "name"], message });
        }
      }
      return named;
    });
}

/** Models with the same id get names that include their addresses. */
function nameTargets(all: EvaluateTarget[]): NamedTarget[] {
  return all.map((target) => {
    const { model_id, endpoint } = target;
    const isAlone = all.filter((other) => other.model_id === model_id).length === 1;
    const { host, pathname } = new URL(endpoint);
    const place = pathname === "/" ? host : host + pathname;
    return { ...target, name: target.name ?? (isAlone ? model_id : `${model_id} at ${place}`) };
  });
}

function tooMany(most: number): string {
  return `must have at most ${most} models`;
}

function refuse(
  { addIssue }: z.RefinementCtx,
  { path, message }: { path: PropertyKey[]; message: string },
): void {
  addIssue({ code: "custom", path, message });
}

const notWith = (other: string) =>
  z.undefined({ error: `must not be sent together with ${other}` }).optional();

/** The models of a body, and the body for the first of them alone. */
interface SeveralModels {
  targets: NamedTarget[];
  first: Record<string, unknown>;
}

/** The schema of a body that is several runs; `undefined` if it is one. */
export function severalModels(value: unknown, most: number): z.ZodType<SeveralModels> | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const wantsBoth = "history" in value && value.history === "both";
  const models = modelsOf(value, most);
  return wantsBoth ? (models ?? oneModel).transform(withBothHistories) : models;
}

function modelsOf(value: object, most: number) {
  if ("targets" in value) {
    return z.looseObject({
      targets: targets(most),
      endpoint: notWith("targets"),
      model_id: notWith("targets"),
      model_ids: notWith("targets"),
    }).transform(({ targets, model_ids: _, ...shared }): SeveralModels => {
      const { endpoint, model_id } = targets[0]!;
      return { targets, first: { ...shared, endpoint, model_id } };
    });
  }
  if (!("model_ids" in value)) return undefined;
  return z.looseObject({
    model_ids: modelIds(most),
    endpoint: Endpoint,
    model_id: notWith("model_ids"),
  }).transform(({ model_ids, endpoint, ...shared }): SeveralModels => ({
    targets: model_ids.map((model_id) => ({ endpoint, model_id, name: model_id })),
    first: { ...shared, endpoint, model_id: model_ids[0] },
  }));
}

const oneModel = z.looseObject({ endpoint: Endpoint, model_id: ModelId })
  .transform((first): SeveralModels => {
    const { endpoint, model_id } = first;
    return { targets: [{ endpoint, model_id, name: model_id }], first };
  });

/** Each model after its own replies, and after the references. */
function withBothHistories({ targets, first }: SeveralModels): SeveralModels {
  return {
    targets: targets.flatMap((target) => [
      { ...target, history: "generated" as const },
      { ...target, history: "reference" as const, name: `${target.name} after the references` },
    ]),
    first: { ...first, history: "reference" },
  };
}
