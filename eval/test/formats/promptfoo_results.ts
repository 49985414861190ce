import { loadApart } from "../../../shared/service/waiting.ts";
import { REQUEST_FAILED } from "../scenario.ts";
import { asFields, asList, asText, isFields } from "../../../shared/service/fields.ts";
import { type DatasetFormat, ImportError, withReply } from "./format.ts";
import { parseWhole, readWhole } from "./lines.ts";

/** Results of promptfoo as JSON: each has its test, the prompt that was sent, and the output. */
export const promptfooResults: DatasetFormat = {
  name: "promptfoo-results",
  about: "results of promptfoo as JSON",
  isWhole: true,
  recognises: ({ start }) => /^\{(?:\s*"evalId"\s*:[^,]*,)?\s*"results"\s*:\s*\{/.test(start),
  async *read(pieces, { leaveOut, hasReplies }) {
    const { results } = asFields(parseWhole(await readWhole(pieces)));
    const all = asList(asFields(results).results).filter(isFields);
    if (all.length === 0) throw new ImportError(1, "results.results is empty");
    const { toDrafts } = await loadApart(() => import("./promptfoo_test_case.ts"));
    const defaults = { vars: {}, asserts: [], threshold: undefined, options: undefined };
    const first = providerOf(all[0]!);
    const kept = new Set<string>();
    for (const result of all) {
      const { testIdx, promptIdx, testCase, vars, prompt, response } = result;
      if (providerOf(result) !== first) {
        leaveOut(`results of the provider ${providerOf(result)}`, 1);
        continue;
      }
      const id = `test-${Number(testIdx) + 1}`;
      const place = `${testIdx}/${promptIdx}`;
      if (!hasReplies && kept.has(place)) continue;
      kept.add(place);
      const { assert, description } = asFields(testCase);
      const test = { description, vars: vars ?? asFields(testCase).vars, assert };
      const raw = asText(asFields(prompt).raw) ?? undefined;
      for (const draft of toDrafts(test, { id, line: 1, defaults, prompt: raw, leaveOut })) {
        const { output } = asFields(response);
        const reply = typeof output === "string" ? output : output ? JSON.stringify(output) : "";
        yield hasReplies ? withReply(draft, reply || REQUEST_FAILED) : draft;
      }
    }
  },
};

function providerOf({ provider }: Record<string, unknown>): string {
  return asText(provider) ?? asText(asFields(provider).id) ?? "";
}
