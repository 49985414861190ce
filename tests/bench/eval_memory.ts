import { startServiceProcess } from "../fakes/service_process.ts";
import { readPeakMb, readRssMb } from "./agent_process.ts";
import { report, startEndpoint } from "./measure.ts";

const ATTEMPTS = 2;
const ENGLISH = ["The parcel was sent to Berlin on Monday and arrives on Thursday."];
const REFERENCES = {
  "English texts only": ENGLISH,
  // English, another language for the detector, and the languages of the second encoder.
  "everything loaded": [
    ...ENGLISH,
    "Das Paket wurde am Montag nach Berlin geschickt und kommt am Donnerstag an.",
    "您的包裹已于星期一寄往柏林，星期四送达。",
    "荷物は月曜日にベルリンへ送られ、木曜日に届きます。",
  ],
};
/** Until the garbage of a run has been collected. */
const SETTLED_MS = 15_000;
/** Until the encoders have ended too, and their garbage is collected. */
const IDLE_MS = 65_000;

/** Services that are measured side by side: most of the time they wait. */
const SERVICES = 3;

/** The service's memory after a run that loads all it has: both encoders, languages, checks, a judge. */
export async function evalMemory(): Promise<void> {
  await using endpoint = await startEndpoint();
  const url = endpoint.url(0);
  for (const [kind, references] of Object.entries(REFERENCES)) {
    const services = await Promise.all(
      Array.from({ length: SERVICES }, () => measure(url, references)),
    );
    const show = (what: string, of: (figures: MemoryFigures) => number, bound = Infinity) =>
      report(`${kind}: ${what}`, services.map(of), { unit: "MB", digits: 0, bound });
    show("before the first run", ({ before }) => before);
    show("right after the run", ({ after }) => after);
    show("the most meanwhile", ({ peak }) => peak);
    show("15 s later", ({ settled }) => settled, 250);
    show("65 s later, without encoders", ({ idle }) => idle);
  }
}

/** In MB; `NaN` if the system does not report it. */
interface MemoryFigures {
  before: number;
  after: number;
  peak: number;
  settled: number;
  idle: number;
}

async function measure(endpoint: string, references: string[]): Promise<MemoryFigures> {
  const folder = await Deno.makeTempDir();
  await using service = await startServiceProcess("eval", {
    environment: {
      EVAL_DATA: `${folder}/eval.db`,
      JUDGE_BASE_URL: endpoint,
      JUDGE_MODEL: "judge",
    },
  });
  const look = () => readRssMb(service.pid) ?? NaN;
  const before = look();
  await evaluate(service.url, { endpoint, references });
  const after = look();
  const peak = readPeakMb(service.pid) ?? NaN;
  await wait(SETTLED_MS);
  const settled = look();
  await wait(IDLE_MS - SETTLED_MS);
  const idle = look();
  await Deno.remove(folder, { recursive: true });
  return { before, after, peak, settled, idle };
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function evaluate(
  url: string,
  { endpoint, references }: { endpoint: string; references: string[] },
): Promise<void> {
  const test_batch = Array.from({ length: 25 }, (_, scenario) => ({
    id: `${scenario}`,
    interactions: references.map((reference_reply, turn) => ({
      id: `${turn}`,
      user_message: `Question ${scenario}.${turn}`,
      reference_reply: `${reference_reply} ${scenario}`,
      reference_metadata: { intent: "delivery", sentiment: "neutral" },
      checks: [{ type: "language", value: "en" }, { type: "regex", value: "order|parcel" }],
    })),
  }));
  const response = await fetch(`${url}/evaluate`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ test_batch, endpoint, model_id: "m", attempts: ATTEMPTS }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
}
