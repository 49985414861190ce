import type { ImportContext } from "./format.ts";
import { asFields, asList, type Fields, isFields } from "../../../shared/fields.ts";
import { followReference } from "./promptfoo_references.ts";

/** A test that a scenario of promptfoo stands for. */
interface ScenarioTest {
  /** Which scenario it comes from, counted from 0. */
  scenario: number;
  id: string;
  test: Fields;
}

/**
 * The tests of promptfoo's `scenarios`: each has every test once with every entry of its `config`,
 * whose variables and assertions come first.
 */
export function* expandScenarios(
  config: Fields,
  leaveOut: ImportContext["leaveOut"],
): Generator<ScenarioTest> {
  const { scenarios } = config;
  const follow = (value: unknown) => followReference(value, config);
  const followAll = (value: unknown) => {
    const list = follow(value);
    return Array.isArray(list) ? list.map(follow) : list;
  };
  if (!Array.isArray(scenarios ?? [])) leaveOut("scenarios in other files", 1);
  for (const [scenario, value] of asList(scenarios).entries()) {
    const { config: written, tests: writtenTests = [{}] } = asFields(follow(value));
    const entries = followAll(written);
    const tests = followAll(writtenTests);
    const isWhole = Array.isArray(entries) && Array.isArray(tests) &&
      [...entries, ...tests].every(isFields);
    if (!isWhole) {
      leaveOut("scenarios in other files", 1);
      continue;
    }
    for (const [entry, data] of entries.entries()) {
      for (const [index, test] of tests.entries()) {
        yield {
          scenario,
          id: `scenario-${scenario + 1}-${entry + 1}-${index + 1}`,
          test: merge(data, test, follow),
        };
      }
    }
  }
}

function merge(data: Fields, test: Fields, follow: (value: unknown) => unknown): Fields {
  const assert = [...asList(follow(data.assert)), ...asList(follow(test.assert))];
  return {
    ...data,
    ...test,
    vars: { ...asFields(follow(data.vars)), ...asFields(follow(test.vars)) },
    ...(assert.length > 0 && { assert }),
  };
}
