/** Other tools' names of a question. They count only if the test has an answer, too. */
export const QUESTION_NAMES = ["question", "input", "prompt", "query", "user_input"];

/**
 * Names of the expected reply in OpenAI, Inspect, Braintrust, DeepEval, Langfuse, Ragas and TRL. If a
 * test has several of these, the first is the reference.
 */
export const EXPECTED_NAMES = [
  ...["ideal", "target", "expected", "expected_output", "expected_answer", "expected_response"],
  ...["ground_truth", "preferred_output", "answer", "reference"],
];

/** Names of what is expected, then those that may also mean a model's answer. */
export const ANSWER_NAMES = [...EXPECTED_NAMES, "completion", "output", "response"];

/** Names of what a model answered, beside those of the reference. */
export const REPLY_NAMES = ["agent_reply", "completion", "output", "response"];

/** Names of the system prompt. */
export const SYSTEM_NAMES = ["system_prompt", "system"];

/** The name that is the first of `wanted`, in any letter case: `Expected answer`, `expectedOutput`. */
export function findName(names: string[], wanted: string[]): string | undefined {
  const plain = names.map(plainName);
  const index = wanted.map((name) => plain.indexOf(name)).find((index) => index !== -1);
  return index === undefined ? undefined : names[index];
}

function plainName(name: string): string {
  return name.trim().replaceAll(/([a-z])([A-Z])/g, "$1_$2").replaceAll(/[\s-]+/g, "_")
    .toLowerCase();
}

const LONGEST_ID = 256;

/**
 * Uses the ids of a file for its scenarios, so that a run of a later version of the file is compared
 * question by question. Of several scenarios with the same id only the first gets it, unless they may be
 * attempts at one.
 */
export function createSampleIds(
  { mayRepeat = false }: { mayRepeat?: boolean | undefined } = {},
): (own: unknown, otherwise: string) => string {
  const taken = new Set<string>();
  return (own, otherwise) => {
    const id = typeof own === "string" || typeof own === "number" ? String(own).trim() : "";
    if (id === "" || id.length > LONGEST_ID || (taken.has(id) && !mayRepeat)) return otherwise;
    taken.add(id);
    return id;
  };
}
