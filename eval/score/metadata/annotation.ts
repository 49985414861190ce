import { z } from "zod";
import { oneLineOf } from "../../test/decision.ts";
import { type Annotation, JUDGE_LABELS, labelKey, SAME_MEANING } from "../../test/labels.ts";
import type { Interaction, Metadata, Scenario } from "../../test/scenario.ts";
import { ProviderError } from "../../../shared/providers/provider.ts";
import { type BatchSemantics, NoVectors } from "../batch_semantics.ts";
import type { JudgeModel } from "../judge_model.ts";
import { askStructured, UnreadableAnswer } from "../judge_structured.ts";
import { type AnnotatedReply, type KeyAnnotation, type KeyPlan, noLabel } from "./annotator.ts";
import { referencesOf } from "../references.ts";
import { saysNothingElse } from "../scores/semantic_similarity.ts";
import { planKey } from "./key_plan.ts";
import { type BatchLabels, collectLabels, isSameLabel } from "./label.ts";
import { SENTIMENT_MODEL } from "./sentiment.ts";

interface AnnotatedMetadata {
  generatedMetadata: Metadata;
  /** `undefined` if the turn has no reference metadata. */
  annotation: Annotation | undefined;
  /** Whether the same reply would get the same labels again; not if the judge was down. */
  isLasting: boolean;
}

export interface AnnotationPorts {
  semantics: BatchSemantics;
  judge: JudgeModel | undefined;
  signal: AbortSignal;
  /** Why labels cannot be read as planned, such as a judge that is no longer configured. */
  unavailable?: string | undefined;
  /** Called if a label cannot be read, with the first error of each kind. */
  onFailure?: ((error: unknown) => void) | undefined;
}

/** An annotation, the plan of its key, and whether the key counts at the turn. */
type Note = KeyAnnotation & { plan?: KeyPlan; counts?: false };

/**
 * A reply with the text of a reference gets the labels of that reference. Other replies are
 * labelled by the judge if there is one, all keys in one call. Without a judge, a reply that says
 * what the turn's reference says and nothing else gets its labels, and other replies are labelled
 * by the annotators. A run does not mix these: if the judge fails, the reply has no label. A key counts at
 * a turn only if its annotator reads the turn's reference right.
 */
export function createMetadataReader(
  scenarios: Scenario[],
  { semantics, judge, signal, unavailable, onFailure }: AnnotationPorts,
) {
  const isByAnnotators = !judge && unavailable === undefined;
  let collecting: Promise<BatchLabels> | undefined;
  const learnLabels = () => collecting ??= collectLabels(scenarios);

  const plans = new Map<string, Promise<KeyPlan>>();
  /** A failed plan is retried with the next reply. */
  function planOnce(key: string): Promise<KeyPlan> {
    let plan = plans.get(key);
    if (!plan) {
      plans.set(key, plan = planKey(key, { scenarios, semantics, sentiment: SENTIMENT_MODEL }));
      plan.catch(() => plans.delete(key));
    }
    return plan;
  }

  async function askJudge(
    keys: string[],
    { text, interaction }: AnnotatedReply,
    model: JudgeModel,
  ): Promise<Map<string, Note>> {
    const labels = await learnLabels();
    const candidates: Candidates = new Map(keys.map((key) => [key, labels.of(key)]));
    const labelled = { userMessage: interaction.user_message, reply: text, candidates };
    try {
      return await labelReply(labelled, { model, signal });
    } catch (error) {
      if (error instanceof UnreadableAnswer) {
        return sameForAll(keys, passing("judge", "judge_unreadable"));
      }
      if (error instanceof ProviderError) {
        return sameForAll(keys, passing("judge", "judge_unavailable"));
      }
      throw error;
    }
  }

  async function askAnnotators(keys: string[], reply: AnnotatedReply) {
    const found = new Map<string, Note>();
    for (const key of keys) found.set(key, await askAnnotator(key, reply));
    return found;
  }

  async function askAnnotator(key: string, reply: AnnotatedReply): Promise<Note> {
    let plan: KeyPlan | undefined;
    try {
      plan = await planOnce(key);
      const refused = await whyNotCounted(key, plan, reply.interaction);
      if (refused !== undefined) return { ...noLabel(plan.method, refused), plan, counts: false };
      const found = await plan.annotator!.annotate(reply);
      const value = reply.interaction.reference_metadata[key];
      if (isSameLabel(found.value, value) || !await isSame(reply)) return { ...found, plan };
      return { value, method: SAME_MEANING, confidence: 1, plan };
    } catch (error) {
      const note = passing(plan?.method ?? "none", explain(error));
      return { ...note, ...(plan && { plan }) };
    }
  }

  const misread = new WeakMap<Interaction, Map<string, Promise<string | undefined>>>();
  /** Why a key does not count at a turn; `undefined` if it does. It depends on the batch only. */
  function whyNotCounted(
    key: string,
    plan: KeyPlan,
    interaction: Interaction,
  ): Promise<string | undefined> {
    const known = misread.getOrInsertComputed(interaction, () => new Map());
    const found = known.getOrInsertComputed(key, () => readReference(key, plan, interaction));
    found.catch(() => known.delete(key)); // the next reply asks again
    return found;
  }

  const compared = new WeakMap<AnnotatedReply, Promise<boolean>>();
  /** Whether a reply says what one of the turn's references says; asked once for all keys. */
  function isSame(reply: AnnotatedReply): Promise<boolean> {
    return compared.getOrInsertComputed(reply, async () => {
      for (const reference of referencesOf(reply.interaction)) {
        if (await saysNothingElse({ reply: reply.text, reference }, semantics)) return true;
      }
      return false;
    });
  }

  const reported = new Set<string>();
  /** Why a key has no label; users may read it. */
  function explain(error: unknown): string {
    const kind = error instanceof Error ? error.name : typeof error;
    if (!reported.has(kind)) onFailure?.(error);
    reported.add(kind);
    return error instanceof NoVectors ? error.message : "labelling failed; see the service's log";
  }

  /** Adds the plans of keys whose labels are known without an annotator. */
  async function addPlans(found: Map<string, Note>, interaction: Interaction): Promise<void> {
    for (const note of found) {
      const [key, annotation] = note;
      try {
        const plan = await planOnce(key);
        const refused = await whyNotCounted(key, plan, interaction);
        const label = annotation.value === undefined && refused !== undefined
          ? noLabel(plan.method, refused)
          : annotation;
        found.set(key, { ...label, plan, ...(refused !== undefined && { counts: false }) });
      } catch (error) {
        // It is unknown whether the key counts, so the label is not used.
        found.set(key, passing(annotation.method, explain(error)));
      }
    }
  }

  async function annotate(
    reply: AnnotatedReply,
    asked: JudgeModel | undefined,
  ): Promise<Map<string, Note>> {
    const labels = await learnLabels();
    const keys = Object.keys(reply.interaction.reference_metadata);
    const same = new Map<string, Note>();
    for (const key of keys) {
      const known = labels.find(key, reply);
      if (known) same.set(key, known);
    }
    const open = keys.filter((key) => !same.has(key));
    if (isByAnnotators) await addPlans(same, reply.interaction);
    if (open.length === 0) return same;
    const read = unavailable !== undefined
      ? sameForAll(open, passing("none", unavailable))
      : asked
      ? await askJudge(open, reply, asked)
      : await askAnnotators(open, reply);
    return new Map(keys.map((key) => [key, same.get(key) ?? read.get(key)!]));
  }

  return {
    /**
     * Labels a reply for each key of its turn's reference metadata. `asked` is the judge, with a
     * meter for this turn.
     */
    async read(reply: AnnotatedReply, asked = judge): Promise<AnnotatedMetadata> {
      if (Object.keys(reply.interaction.reference_metadata).length === 0) {
        return { generatedMetadata: {}, annotation: undefined, isLasting: true };
      }
      return describe(await annotate(reply, asked));
    },

    /** Which keys of a turn count in this batch. A key that cannot be planned counts. */
    async plan(interaction: Interaction): Promise<Annotation | undefined> {
      const keys = Object.keys(interaction.reference_metadata);
      if (!isByAnnotators || keys.length === 0) return undefined;
      const notes = sameForAll(keys, noLabel("none", "there is no reply"));
      await addPlans(notes, interaction);
      return describe(notes).annotation;
    },
  };
}

/** Why an annotator cannot be trusted at a turn: it misreads the turn's own reference. */
async function readReference(
  key: string,
  { annotator, reason = "the key has no annotator" }: KeyPlan,
  interaction: Interaction,
): Promise<string | undefined> {
  if (!annotator) return reason;
  const { reference_reply: text, reference_metadata } = interaction;
  const label = reference_metadata[key];
  if (!text?.trim()) return undefined;
  const { value } = await annotator.annotate({ text, interaction });
  if (isSameLabel(value, label)) return undefined;
  const read = value === undefined ? "not read" : `read as ${oneLineOf(labelKey(value))}`;
  return `the reference itself is ${read}, not as ${oneLineOf(labelKey(label))}`;
}

function passing(method: string, reason: string): KeyAnnotation {
  return { ...noLabel(method, reason), isPassing: true };
}

function sameForAll(keys: string[], annotation: KeyAnnotation): Map<string, Note> {
  return new Map(keys.map((key) => [key, annotation]));
}

function describe(found: Map<string, Note>): AnnotatedMetadata {
  const generatedMetadata: Metadata = {};
  const keys: Annotation["keys"] = {};
  for (const [key, { value, method, confidence, reason, isPassing, plan, counts }] of found) {
    if (value !== undefined) generatedMetadata[key] = value;
    keys[key] = {
      method,
      confidence,
      ...(reason !== undefined && { reason }),
      ...(value === undefined && !isPassing && counts !== false && { none_fits: true }),
      ...(counts === false && { counts }),
      ...(plan?.selfCheck && { self_check: plan.selfCheck }),
    };
  }
  const notes = Object.values(keys);
  const known = notes.map(({ confidence }) => confidence).filter((value) => value !== null);
  return {
    generatedMetadata,
    isLasting: [...found.values()].every(({ isPassing }) => !isPassing),
    annotation: {
      method: [...new Set(notes.map(({ method }) => method))].join("+"),
      // Not `Math.min(...known)`: there may be more keys than a call can have arguments.
      confidence: known.length === 0 ? null : known.reduce((least, one) => Math.min(least, one)),
      keys,
    },
  };
}

/** The judge's choice if no label fits. */
const UNKNOWN = "unknown";

/** For each metadata key the labels to choose from: `labelKey` to the label in the batch. */
export type Candidates = Map<string, Map<string, unknown>>;

/**
 * Has the judge label all keys of a reply in one call. A key has no value if the judge says that no
 * candidate fits. Throws `UnreadableAnswer`, and what the model throws.
 */
export async function labelReply(
  { userMessage, reply, candidates }: {
    userMessage: string;
    reply: string;
    candidates: Candidates;
  },
  options: { model: JudgeModel; signal: AbortSignal },
): Promise<Map<string, KeyAnnotation>> {
  const schema = labelSchema(candidates);
  const choices = [...candidates].map(([key, labels]) => {
    const named = choicesOf(labels).map((label) => JSON.stringify(label));
    return `- ${JSON.stringify(key)}: one of ${named.join(", ")}`;
  });
  const answer = await askStructured({
    name: "labels",
    instructions: "You annotate a reply that an assistant gave. For each key choose the label " +
      `that describes the reply itself, or ${JSON.stringify(UNKNOWN)} if none does:\n` +
      choices.join("\n"),
    texts: { user_message: userMessage, reply },
    form: '"labels": {key: label}, "confidence": number from 0 to 1',
    schema,
    accepted: schema,
    temperature: 0,
  }, options);
  return new Map([...candidates].map(([key, labels]): [string, KeyAnnotation] => {
    const chosen = labelKey(answer.labels[key]);
    if (!labels.has(chosen)) {
      return [key, noLabel(JUDGE_LABELS, "the judge says that none of the labels fits")];
    }
    const { confidence } = answer;
    return [key, { value: labels.get(chosen), method: JUDGE_LABELS, confidence }];
  }));
}

function labelSchema(candidates: Candidates) {
  const keys = [...candidates].map(([key, labels]) => [key, z.enum(choicesOf(labels))]);
  return z.strictObject({
    labels: z.strictObject(Object.fromEntries(keys) as Record<string, z.ZodType<string>>),
    confidence: z.number().min(0).max(1),
  });
}

function choicesOf(labels: Map<string, unknown>): string[] {
  return [...new Set([...labels.keys(), UNKNOWN])];
}
