import type { ImportContext } from "./format.ts";
import { asFields, asList, type Fields, isFields } from "../../../shared/fields.ts";

/** A test that a scenario of promptfoo stands for. */
export interface ScenarioTest {
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
  scenarios: unknown,
  leaveOut: ImportContext["leaveOut"],
): Generator<ScenarioTest> {
  if (!Array.isArray(scenarios ?? [])) leaveOut("scenarios in other files", 1);
  for (const [scenario, value] of asList(scenarios).entries()) {
    const { config, tests = [{}] } = asFields(value);
    const isWhole = Array.isArray(config) && Array.isArray(tests) &&
      [...config, ...tests].every(isFields);
    if (!isWhole) {
      leaveOut("scenarios in other files", 1);
      continue;
    }
    for (const [entry, data] of config.entries()) {
      for (const [index, test] of tests.entries()) {
        yield {
          scenario,
          id: `scenario-${scenario + 1}-${entry + 1}-${index + 1}`,
          test: merge(data, test),
        };
      }
    }
  }
}

function merge(data: Fields, test: Fields): Fields {
  const assert = [...asList(data.assert), ...asList(test.assert)];
  return {
    ...data,
    ...test,
    vars: { ...asFields(data.vars), ...asFields(test.vars) },
    ...(assert.length > 0 && { assert }),
  };
}
