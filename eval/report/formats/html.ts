import { createHash } from "node:crypto";
import type { Grade } from "../../test/grades.ts";
import { gradeAgreementOf, type GradedTurnScores } from "../../figures/rater_agreement.ts";
import { summariseTurns } from "../../figures/run_summary.ts";
import { ALL_FIELDS, outlineOf, viewTurn } from "../../run/turn_view.ts";
import { restingProgress, viewRun } from "../../run/view.ts";
import { listedParts } from "../../store/turn_record.ts";
import script from "./bundle/report.js" with { type: "text" };
import style from "./bundle/report.css" with { type: "text" };
import type { ExportFormat, ExportSource } from "../format.ts";

/** One file that opens without a server: the views of the dashboard with the data beside them. */
export const html: ExportFormat = {
  name: "html",
  about: "one file with the views of the dashboard; it opens without a server and loads " +
    "nothing; `baseline={id}` makes it a comparison",
  extension: "html",
  contentType: "text/html; charset=utf-8",
  uses: ["threshold"],
  write: ({ comparison, ...source }) =>
    inPage(comparison?.runs ? writeReport(comparison.runs, comparison) : writeReport([source])),
  writeComparison: (source) => inPage(writeReport(source.runs, source)),
};

const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** Nothing but this script and this style; nothing is loaded, and nothing is sent. */
const POLICY = [
  "default-src 'none'",
  `script-src ${hashOf(script)}`,
  `style-src ${hashOf(style)}`,
  "img-src data:",
  "require-trusted-types-for 'script'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

const HEAD = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Assay report</title>
<style>${style}</style>
</head>
<body>
<div id="app"></div>
<script type="application/json" id="data">`;

const TAIL = `</script>
<script type="module">${script}</script>
</body>
</html>
`;

/** A page that holds JSON, which no text in it can end: `<` is written as an escape. */
async function* inPage(json: AsyncIterable<string>): AsyncGenerator<string> {
  yield HEAD;
  for await (const piece of json) yield piece.replaceAll("<", "\\u003c");
  yield TAIL;
}

/** Turns that changed most, by score: more are not shown. */
const MOST_CHANGED = 50;

/** What a report holds: runs, and what a comparison of them says. */
async function* writeReport(
  sources: ExportSource[] | (() => Promise<ExportSource[]>),
  compared?: NonNullable<ExportSource["comparison"]>,
): AsyncGenerator<string> {
  yield `{"runs":[`;
  let comma = "";
  for (const source of Array.isArray(sources) ? sources : await sources()) {
    yield comma;
    yield* writeRun(source);
    comma = ",";
  }
  yield "]";
  if (compared) {
    yield `,"comparison":${JSON.stringify(compared.result)}`;
    const pairs = [...await compared.lists?.() ?? []].map(([score, { scenarios, turns }]) => {
      const furthest = turns.toSorted((a, b) => Math.abs(b.difference) - Math.abs(a.difference));
      return [score, { scenarios, turns: furthest.slice(0, MOST_CHANGED) }];
    });
    yield `,"pairs":${JSON.stringify(Object.fromEntries(pairs))}`;
  }
  yield "}";
}

async function* writeRun({ run, reader, threshold, scores = [] }: ExportSource) {
  const outline = { ...outlineOf(run), passThreshold: threshold };
  const shown = viewRun(run, restingProgress(run, await reader.tally(run.id)));
  // By the threshold of the export, as the outcomes of the turns are.
  const request = { ...run.request, pass_threshold: threshold };
  const summary = await summariseTurns(reader, { ...run, request });
  const { scenarios } = outline;
  const data = JSON.stringify({
    run: shown,
    summary,
    scores,
    scenarios,
    pass_threshold: threshold,
  });
  const graded: GradedTurnScores[] = [];
  yield `${data.slice(0, -1)},"turns":[`;
  let seq = 0;
  for await (const { result, ...position } of reader.turns(run.id)) {
    const row = viewTurn({
      ...position,
      seq: ++seq,
      ...listedParts(result),
      resultJson: JSON.stringify(result),
    }, { outline, fields: { names: [ALL_FIELDS] } });
    yield `${seq > 1 ? "," : ""}${JSON.stringify(row)}`;
    const { scores, grades } = result;
    if (grades) graded.push({ scenario: position.scenario, scores, grades: grades.map(toStored) });
  }
  const agreement = { run_id: run.id, ...gradeAgreementOf(graded, { passThreshold: threshold }) };
  yield `],"agreement":${JSON.stringify(agreement)}}`;
}

function toStored({ author, ...grade }: Grade) {
  return { ...grade, author: author ?? "" };
}
