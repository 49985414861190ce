import { z } from "zod";
import { counted } from "../../../shared/service/text.ts";
import { checkBody } from "../../../shared/http/body.ts";
import { AppError } from "../../../shared/service/errors.ts";
import { GradeInput, type PlacedGrade } from "../../test/grades.ts";
import { placeGrade, toGrade } from "../../figures/graded_reader.ts";
import type { StoredRun } from "../../store/run_record.ts";
import type { RunStore } from "../../store/store.ts";
import { parseArguments } from "../arguments.ts";
import { type Command, EXIT, UsageError } from "../command.ts";
import type { CliContext } from "../context.ts";
import { findRun } from "../find_run.ts";
import { agreementText } from "../../report/text/agreement_text.ts";
import { readGradeAgreement } from "../../figures/rater_agreement.ts";
import { jsonText, renderTable, terminalForm } from "../report/terminal_form.ts";

const options = {
  import: { type: "string" },
  json: { type: "boolean" },
} as const;

/** A line of a file of grades: positions as in `GET /runs/{id}/grades`. */
const GradeLine = GradeInput.extend({
  /** `null` deletes the author's grade. */
  value: GradeInput.shape.value.nullable(),
  scenario: z.int().min(0),
  attempt_id: z.int().min(1),
  turn: z.int().min(0),
});

export const grades: Command = {
  summary: "list the grades that people gave, or import them",
  help: `assay-eval grades RUN [options]

Lists the grades of a run. RUN is an id, "latest", or
"tag:NAME".

  --import FILE  store the grades of a file first, one JSON object per line:
                 scenario, attempt_id, turn, value, and label, comment,
                 corrected_reply, author; a value of null deletes the author's
                 grade. If a line is wrong, none is stored
  --json         print the grades as JSON lines, which --import reads

"scenario" and "turn" are positions counted from 0, "attempt_id" from 1.

Example:
  assay-eval grades latest --import grades.jsonl
`,

  async execute(args, context) {
    const { values, positionals: [name = ""] } = parseArguments(args, { options, names: ["RUN"] });
    if (values.import !== undefined) {
      const lines = parseLines(await context.readText(values.import));
      await using store = await context.openStore({ mustExist: true });
      await importGrades(await findRun(store, name), { lines, store, context });
    }
    await using reader = await context.openReader();
    const run = await findRun(reader, name);
    const found = (await Array.fromAsync(reader.grades(run.id)))
      .map((grade) => placeGrade(grade, run));
    context.out.write(values.json ? found.map(toLine).join("") : showGrades(found));
    return EXIT.passed;
  },
};

interface Line {
  /** Counted from 1. */
  number: number;
  grade: z.infer<typeof GradeLine>;
}

function parseLines(text: string): Line[] {
  return text.replace(/^\ufeff/, "").split("\n").flatMap((line, index) => {
    if (line.trim() === "") return [];
    try {
      return [{ number: index + 1, grade: checkBody(JSON.parse(line), GradeLine) }];
    } catch (error) {
      const reason = error instanceof AppError && error.errors
        ? error.errors.map(({ path, message }) => path === "" ? message : `${path}: ${message}`)
          .join("; ")
        : "it is not JSON";
      throw new UsageError(`cannot import the grades: line ${index + 1}: ${reason}`);
    }
  });
}

/** Stores all grades of a file, or none if one of them cannot be stored. */
async function importGrades(
  run: StoredRun,
  { lines, store, context }: { lines: Line[]; store: RunStore; context: CliContext },
): Promise<void> {
  await requireStorable(run, { lines, store });
  for (const [index, { number, grade }] of lines.entries()) {
    const { value, author = "" } = grade;
    const position = positionOf(grade);
    const saved = value === null
      ? await store.deleteGrade(run.id, { ...position, author })
      : await store.saveGrade(run.id, position, toGrade({ ...grade, value }));
    if (!saved) { // deleted by another process meanwhile
      throw new UsageError(
        `cannot import the grades: line ${number}: the turn or its grade is gone; ` +
          `imported before it: ${counted(index, "grade")}`,
      );
    }
  }
  context.err.write(`imported ${counted(lines.length, "grade")}\n`);
}

/** Throws `UsageError` at the first line whose turn, or whose grade to delete, is not stored. */
async function requireStorable(
  run: StoredRun,
  { lines, store }: { lines: Line[]; store: RunStore },
): Promise<void> {
  const nameOf = (...parts: (number | string)[]) => JSON.stringify(parts);
  const turns = new Set<string>();
  for await (const page of store.turnPages(run.id)) {
    for (const { scenario, attempt, turn } of page) turns.add(nameOf(scenario, attempt, turn));
  }
  const graded = new Set<string>();
  for await (const { scenario, attempt, turn, author } of store.grades(run.id)) {
    graded.add(nameOf(scenario, attempt, turn, author));
  }
  for (const { number, grade } of lines) {
    const { scenario, attempt, turn } = positionOf(grade);
    const name = nameOf(scenario, attempt, turn, grade.author ?? "");
    const isStored = turns.has(nameOf(scenario, attempt, turn));
    const [what, why] = grade.value === null
      ? ["delete", graded.delete(name) ? undefined : "there is none"]
      : ["import", isStored ? undefined : "the turn is not stored"];
    if (why !== undefined) {
      throw new UsageError(
        `cannot import the grades: line ${number}: cannot ${what} the grade of turn ` +
          `${scenario}/${grade.attempt_id}/${turn}: ${why}; no grade was imported`,
      );
    }
    if (grade.value !== null) graded.add(name);
  }
}

function positionOf({ scenario, attempt_id, turn }: Line["grade"]) {
  return { scenario, attempt: attempt_id - 1, turn };
}

/** A line with the fields that the import reads. */
function toLine(
  { scenario, attempt_id, turn, value, label, comment, corrected_reply, author }: PlacedGrade,
): string {
  return `${
    JSON.stringify({
      scenario,
      attempt_id,
      turn,
      value,
      ...(label !== null && { label }),
      ...(comment !== null && { comment }),
      ...(corrected_reply !== null && { corrected_reply }),
      ...(author !== null && { author }),
    })
  }\n`;
}

function showGrades(found: PlacedGrade[]): string {
  if (found.length === 0) return "no grades found\n";
  return renderTable(
    ["scenario", "attempt", "turn", "grade", "author", "label", "comment"],
    found.map(({ scenario_id, attempt_id, turn, value, author, label, comment }) => [
      scenario_id,
      `${attempt_id}`,
      `${turn}`,
      value.toFixed(3),
      author ?? "–",
      label ?? "",
      comment ?? "",
    ]),
  );
}

const agreementOptions = {
  score: { type: "string" },
  json: { type: "boolean" },
} as const;

export const agreement: Command = {
  summary: "say how far people agree with each other and with the judge",
  help: `assay-eval agreement RUN [options]

Compares the grades of a run with each other and with the judge's score:
Krippendorff's alpha, the bias, and the threshold that agrees best with
people. RUN is an id, "latest", or "tag:NAME".

  --score NAME   the score (default: judge, or overall without a judge)
  --json         print the whole answer as JSON

Example:
  assay-eval agreement latest
`,

  async execute(args, context) {
    const { values, positionals: [name = ""] } = parseArguments(args, {
      options: agreementOptions,
      names: ["RUN"],
    });
    await using reader = await context.openReader();
    const run = await findRun(reader, name);
    const found = await readGradeAgreement(reader, run, { score: values.score });
    const text = values.json ? jsonText(found) : agreementText(found, terminalForm).trimStart();
    context.out.write(text);
    return EXIT.passed;
  },
};
