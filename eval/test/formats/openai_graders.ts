import { loadApart } from "../../../shared/service/waiting.ts";
import { asFields, asList, asText, type Fields, isFields } from "../../../shared/service/fields.ts";
import { findName, QUESTION_NAMES } from "../datasets/sample_names.ts";
import { type DatasetFormat, type ImportContext, ImportError, withReply } from "./format.ts";
import { parseWhole, readWhole } from "./lines.ts";
import { readReply } from "./replies.ts";

const GRADERS = /^\{[^]*"(?:testing_criteria|data_source_config)"\s*:/;

/** Fields that say nothing about the tests, or name the model that was tested. */
const BOOKKEEPING = new Set(["id", "object", "created_at", "name", "metadata", "model", "type"]);

/**
 * An eval of OpenAI's API together with a run of it, whose items are in the file. Each item is a test
 * of promptfoo, and each grader one of its assertions.
 */
export const openaiGraders: DatasetFormat = {
  name: "openai-graders",
  about: "an eval of OpenAI's API with its items and graders",
  isWhole: true,
  recognises: ({ start }) => GRADERS.test(start),
  async *read(pieces, { leaveOut, hasReplies }) {
    const root = asFields(parseWhole(await readWhole(pieces)));
    const { testing_criteria, data_source, data_source_config: _, ...rest } = root;
    const { source, input_messages, ...others } = asFields(data_source);
    const { content } = asFields(source);
    for (const name of Object.keys({ ...rest, ...others })) {
      if (!BOOKKEEPING.has(name)) leaveOut(`the field ${name}`, 1);
    }
    if (!Array.isArray(content)) {
      throw new ImportError(
        1,
        "data_source.source.content has no items; put those of file_id there, as file_content has them",
      );
    }
    const prompt = promptOf(asFields(input_messages), content);
    const assert = asList(testing_criteria).flatMap((grader) =>
      toAssertion(asFields(grader), leaveOut) ?? []
    );
    // Only if there is such a file: the package for YAML takes long to load.
    const { toDrafts } = await loadApart(() => import("./promptfoo_test_case.ts"));
    const defaults = { vars: {}, asserts: [], threshold: undefined, options: undefined };
    for (const [index, one] of content.entries()) {
      const { item, sample } = asFields(one);
      const reply = hasReplies ? readReply(sample) : undefined;
      const test = { vars: { item, sample: { output_text: "(the reply)" } }, assert };
      const named = { id: `item-${index + 1}`, line: 1, defaults, prompt, leaveOut };
      for (const draft of toDrafts(test, named)) {
        yield reply === undefined ? draft : withReply(draft, reply);
      }
    }
  },
};

/** A text that variables are put into: the messages of a template, or the name of those of an item. */
function promptOf({ template, item_reference }: Fields, content: unknown[]): string {
  const { item, sample } = asFields(content[0]);
  const question = findName(Object.keys(asFields(item)), QUESTION_NAMES);
  // A data source of items that were answered elsewhere.
  if (!template && !item_reference && sample && question) return `{{ item.${question} }}`;
  if (typeof item_reference === "string") return `{{ ${item_reference} }}`;
  if (!Array.isArray(template)) {
    throw new ImportError(1, "data_source.input_messages has neither template nor item_reference");
  }
  const messages = template.map(asFields).map(({ role, content }) => ({
    role,
    content: isFields(content) ? [content] : content,
  }));
  return JSON.stringify(messages);
}

const OPERATIONS = new Map([
  ["eq", "equals"],
  ["ne", "not-equals"],
  ["like", "contains"],
  ["ilike", "icontains"],
]);
const REPLY = /^\s*\{\{\s*sample\.output_text\s*\}\}\s*$/;

/** What a grader is among the assertions of promptfoo; `undefined` if it has no counterpart. */
function toAssertion(
  grader: Fields,
  leaveOut: ImportContext["leaveOut"],
): Fields | undefined {
  const { type, name, input, reference, operation, evaluation_metric, pass_threshold } = grader;
  const [metric, value] = [name, reference];
  const ofReply = typeof input === "string" && REPLY.test(input);
  const check = OPERATIONS.get(asText(operation) ?? "");
  if (type === "string_check" && ofReply && check) return { type: check, value, metric };
  if (type === "text_similarity" && ofReply) {
    if (evaluation_metric === "cosine") {
      return { type: "similar", value, metric, threshold: pass_threshold };
    }
    leaveOut(`${evaluation_metric} of text_similarity: the check looks at the meaning`, 1);
    return { type: "similar", value, metric };
  }
  const expected = type === "label_model"
    ? `its label is ${asList(grader.passing_labels).join(" or ")}, of ${
      asList(grader.labels).join(", ")
    }`
    : type === "score_model" && typeof pass_threshold === "number"
    ? `its score is at least ${pass_threshold}, of ${asList(grader.range ?? [0, 1]).join(" to ")}`
    : undefined;
  if (expected === undefined) {
    leaveOut(
      type === "score_model" ? "score_model without pass_threshold" : `graders of the type ${type}`,
      1,
    );
    return undefined;
  }
  const instructions = asList(input).map(asFields).map(({ content }) =>
    [content].flat().map((part) => asText(isFields(part) ? part.text : part) ?? "").join("\n")
  );
  const rubric = `By these instructions, ${expected}:\n\n${instructions.join("\n\n")}`;
  return { type: "llm-rubric", value: rubric, metric };
}
