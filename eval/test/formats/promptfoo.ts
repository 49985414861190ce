import { loadApart } from "../../../shared/service/waiting.ts";
import type { DatasetFormat } from "./format.ts";
import { isTestTable } from "./promptfoo_table.ts";

/** JSON over several lines: a configuration, or its tests alone, with texts at most before that. */
const CONFIGURATION =
  /^(?:\{[^{}[\]]*"(?:prompts|tests|scenarios|providers|targets|defaultTest)"|\[\s*\{[^{}[\]]*"(?:vars|assert)")\s*:/;
const OURS = /"(?:interactions|test_batch)"\s*:/;
const OUR_YAML = /^[\s-]*(?:interactions|test_batch)\s*:/m;

export const promptfoo: DatasetFormat = {
  name: "promptfoo",
  about: "a configuration of promptfoo, or its tests alone",
  isWhole: true,
  recognises: ({ name, start, first, isLine, columns, hasMapping }) => {
    if (!/^[[{]/.test(start) && OUR_YAML.test(start)) return false;
    if (/\.ya?ml$/i.test(name)) return true;
    if (columns || hasMapping) {
      return !hasMapping && !columns!.includes("user_message") &&
        isTestTable(start.split("\n", 1)[0]!);
    }
    if (start !== "" && !/^[[{]/.test(start)) return true;
    if (isLine && first) {
      return ["tests", "scenarios", "vars", "assert"].some((part) => part in first);
    }
    return CONFIGURATION.test(start) && !OURS.test(start);
  },
  async *read(pieces, context) {
    // Only if there is such a file: the package for YAML takes long to load.
    const { readPromptfoo } = await loadApart(() => import("./promptfoo_file.ts"));
    yield* readPromptfoo(pieces, context);
  },
};
