// deno-lint-ignore-file no-console -- a bench speaks to its terminal
import { compareWordless } from "../../eval/score/text/wordless.ts";
import { report } from "./measure.ts";

/** A question of grade-school-math's training split: its worked solution and the number at its end. */
interface Problem {
  /** Without the annotations of the calculator. */
  steps: string[];
  answer: string;
  /** The result of a step, other than the answer. */
  other: string;
  /** The noun that the answer counts. */
  noun: string;
}

const count = (text: string) => Number(text.replaceAll(",", ""));
const near = (text: string, by: number) => String(count(text) + by);

/** Solutions with the right number, in the ways in which models write them. */
const RIGHT: Record<string, (problem: Problem) => string> = {
  "solution": ({ steps }) => steps.join("\n"),
  "in one paragraph": ({ steps }) => steps.map((step) => step.replace(/[^.]$/, "$&.")).join(" "),
  "last step": ({ steps }) => steps.at(-1)!,
  "####": ({ steps, answer }) => `${steps.join("\n")}\n#### ${answer}`,
  "the answer is": ({ steps, answer }) => `${steps.join("\n")}\nThe answer is ${answer}.`,
  "in bold": ({ steps, answer }) =>
    `${steps.join("\n")}\n\nTherefore, the final answer is **${answer}**.`,
  "with its noun": ({ steps, answer, noun }) => `${steps[0]}\nAnswer: ${answer} ${noun}`,
  "boxed": ({ steps, answer }) => `${steps.join("\n")}\n\\[\\boxed{${answer}}\\]`,
  "answer first": ({ steps, answer }) =>
    `The answer is ${answer}.\n\nExplanation:\n${steps.join("\n")}`,
  "decimals": ({ steps, answer }) => `${steps.join("\n")}\nSo the result is $${answer}.00.`,
  "a denial behind": ({ steps, answer, other }) =>
    `${steps.join("\n")}\nSo it is ${answer}, not ${other}.`,
  "a denial before": ({ answer, other }) => `It is not ${other}. It is ${answer}.`,
  "alone": ({ answer, noun }) => `${answer} ${noun}`,
  "givens again": ({ answer, other, noun }) => `Starting with ${other}, we get ${answer} ${noun}.`,
};

/** Solutions with another number, most of which contain the right one somewhere. */
const WRONG: Record<string, (problem: Problem) => string> = {
  "another result": ({ steps, answer }) =>
    [...steps.slice(0, -1), replaceLast(steps.at(-1)!, answer, near(answer, 3))].join("\n"),
  "without its last step": ({ steps }) => steps.slice(0, -1).join("\n"),
  "one step more": ({ steps, answer }) =>
    `${steps.join("\n")}\nAdding 8 to ${answer} makes ${near(answer, 8)}.`,
  "one step more, in other words": ({ steps, answer }) =>
    `${steps.join("\n")}\n8 more than ${answer} is ${near(answer, 8)}.`,
  "one step more, and stated": ({ steps, answer }) =>
    `${steps.join("\n")}\n${answer} plus 8 is ${near(answer, 8)}. The answer is ${
      near(answer, 8)
    }.`,
  "a step's result stated": ({ steps, other }) => `${steps.join("\n")}\nThe answer is ${other}.`,
  "a step's result boxed": ({ steps, other }) => `${steps.join("\n")}\n\\boxed{${other}}`,
  "####": ({ steps, other }) => `${steps.join("\n")}\n#### ${other}`,
  "a list": ({ answer }) => [-2, -1, 0, 1].map((by) => near(answer, by)).join(", "),
  "a list in a sentence": ({ answer, noun }) =>
    `It may be ${near(answer, -1)}, ${answer} or ${near(answer, 1)} ${noun}.`,
  "one of two": ({ answer }) => `The answer is ${near(answer, 1)} or ${answer}.`,
  "a range": ({ answer }) => `The answer is between ${near(answer, -5)} and ${answer}.`,
  "a denial": ({ answer }) => `The answer is not ${answer}.`,
  "a denial behind": ({ answer, other }) => `It is ${other}, not ${answer}.`,
  "a scale": ({ answer, noun }) => `The answer is ${answer} million ${noun}.`,
  "a sign": ({ answer }) => `The answer is -${answer}.`,
  "a fraction": ({ answer }) => `The answer is ${answer}.5.`,
  "more digits": ({ steps, answer }) => `${steps[0]}\nThe answer is ${answer}0.`,
  "a supposition": ({ answer, other }) =>
    `If it were ${answer}, something would be left. So it is ${other}.`,
  "a given": ({ answer, other, noun }) => `From the ${answer} ${noun} only ${other} remain.`,
};

function replaceLast(text: string, wanted: string, by: string): string {
  const at = text.lastIndexOf(wanted);
  return at < 0 ? text + by : text.slice(0, at) + by + text.slice(at + wanted.length);
}

function readProblem(line: string): Problem[] {
  const { answer: written } = JSON.parse(line) as { answer: string };
  const [solution = "", answer = ""] = written.split("####").map((part) => part.trim());
  const results = [...solution.matchAll(/=([\d.,]+)>>/g)].map(([, result]) => result!);
  const other = results.toReversed().find((result) => count(result) !== count(answer));
  const steps = solution.replace(/<<[^>]*>>/g, "").split("\n").map((step) => step.trim())
    .filter(Boolean);
  const noun = /\d\s([a-z]{3,})/.exec(steps.at(-1) ?? "")?.[1] ?? "items";
  return other === undefined || steps.length < 2 ? [] : [{ steps, answer, other, noun }];
}

/** How often right and wrong solutions pass, by the way in which they are written. */
export function statedAnswers(solutions: string): void {
  const problems = solutions.trim().split("\n").flatMap(readProblem);
  const share = (kinds: Record<string, (problem: Problem) => string>) => {
    let [passed, all] = [0, 0];
    for (const [kind, write] of Object.entries(kinds)) {
      const replies = problems.map((problem) => compareWordless(write(problem), problem.answer));
      const found = replies.filter((value) => value >= 0.7).length;
      console.log(`    ${kind}: ${(100 * found / replies.length).toFixed(2)} %`);
      [passed, all] = [passed + found, all + replies.length];
    }
    return passed / all;
  };
  console.log(`  grade-school-math, training split, ${problems.length} problems: right, kept`);
  report("right solutions that are kept", share(RIGHT), { atLeast: 0.97, digits: 4 });
  console.log("  wrong, passed");
  report("wrong solutions that pass", share(WRONG), { bound: 0.02, digits: 4 });
}
