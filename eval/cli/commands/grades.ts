import { counted } from "../../../shared/service/text.ts";
import type { GradeList } from "../../http/grade_routes.ts";
import { agreementSection } from "../../report/run_report.ts";
import { renderText } from "../../report/text/render.ts";
import { renderTable, terminalForm } from "../../report/text/terminal_form.ts";
import type { GradeAgreement, PlacedGrade } from "../../test/grades.ts";
import { connect, jsonText, runPath } from "../api.ts";
import { parseArguments } from "../arguments.ts";
import { type Command, EXIT } from "../command.ts";

const options = {
  import: { type: "string" },
  json: { type: "boolean" },
} as const;

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
    const { import: path } = values;
    const body = path === undefined ? undefined : await context.readText(path);
    await using api = await connect(context, { access: path === undefined ? "read" : "write" });
    const route = `${runPath(name)}/grades`;
    if (body !== undefined) {
      const headers = { "content-type": "application/jsonl" };
      const { stored } = await api.json<{ stored: number }>(`PUT ${route}`, { body, headers });
      context.err.write(`imported ${counted(stored, "grade")}\n`);
    }
    const found: PlacedGrade[] = [];
    let cursor: string | null | undefined;
    while (cursor !== null) {
      const page = await api.json<GradeList>(`GET ${route}`, { query: { cursor, limit: 1_000 } });
      found.push(...page.grades);
      cursor = page.next_cursor;
    }
    context.out.write(values.json ? found.map(toLine).join("") : showGrades(found));
    return EXIT.passed;
  },
};

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
    await using api = await connect(context, { access: "read" });
    const found = await api.json<GradeAgreement>(`GET ${runPath(name)}/agreement`, {
      query: { score: values.score },
    });
    const text = values.json
      ? jsonText(found)
      : renderText([agreementSection(found)], terminalForm).trimStart();
    context.out.write(text);
    return EXIT.passed;
  },
};
