import { startServiceProcess } from "../fakes/service_process.ts";
import { readPeakMb, readRssMb } from "./agent_process.ts";
import { report, startEndpoint } from "./measure.ts";

const ATTEMPTS = 2;
const ENGLISH = ["The parcel was sent to Berlin on Monday and arrives on Thursday."];
/** English, another language for the detector, and the languages of the second encoder. */
const ALL_LANGUAGES = [
  ...ENGLISH,
  "Das Paket wurde am Montag nach Berlin geschickt und kommt am Donnerstag an.",
  "您的包裹已于星期一寄往柏林，星期四送达。",
  "荷物は月曜日にベルリンへ送られ、木曜日に届きます。",
];
/** Until the garbage of a run has been collected. */
const SETTLED_MS = 15_000;
/** Until the encoders have ended too, and their garbage is collected. */
const IDLE_MS = 65_000;

/** The service's memory after a run that loads all it has: both encoders, languages, checks, a judge. */
export async function evalMemory(): Promise<void> {
  await using endpoint = await startEndpoint();
  await measure(endpoint.url(0), { kind: "English texts only", references: ENGLISH });
  await measure(endpoint.url(0), { kind: "everything loaded", references: ALL_LANGUAGES });
}

async function measure(
  endpoint: string,
  { kind, references }: { kind: string; references: string[] },
): Promise<void> {
  const folder = await Deno.makeTempDir();
  await using service = await startServiceProcess("eval", {
    environment: {
      EVAL_DATA: `${folder}/eval.db`,
      JUDGE_BASE_URL: endpoint,
      JUDGE_MODEL: "judge",
    },
  });
  const before = readRssMb(service.pid);
  if (before === undefined) return; // the system does not tell
  const show = (what: string, value = readRssMb(service.pid)!, bound?: number) =>
    report(`${kind}: ${what}`, value, { unit: "MB", digits: 0, ...(bound && { bound }) });
  show("before the first run", before);
  await evaluate(service.url, { endpoint, references });
  show("right after the run");
  show("the most meanwhile", readPeakMb(service.pid)!);
  await wait(SETTLED_MS);
  show("15 s later", readRssMb(service.pid)!, 250);
  await wait(IDLE_MS - SETTLED_MS);
  show("65 s later, without encoders");
  await Deno.remove(folder, { recursive: true });
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
