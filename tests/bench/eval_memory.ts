import { startServiceProcess } from "../fakes/service_process.ts";
import { readPeakMb, readRssMb } from "./agent_process.ts";
import { report, startEndpoint } from "./measure.ts";

const ATTEMPTS = 2;
/** English, another language for the detector, and the languages of the second encoder. */
const REFERENCES = [
  "The parcel was sent to Berlin on Monday and arrives on Thursday.",
  "Das Paket wurde am Montag nach Berlin geschickt und kommt am Donnerstag an.",
  "您的包裹已于星期一寄往柏林，星期四送达。",
  "荷物は月曜日にベルリンへ送られ、木曜日に届きます。",
];

/** The service's memory after a run that loads all it has: both encoders, languages, checks, a judge. */
export async function evalMemory(): Promise<void> {
  await using endpoint = await startEndpoint();
  const folder = await Deno.makeTempDir();
  await using service = await startServiceProcess("eval", {
    environment: {
      EVAL_DATA: `${folder}/eval.db`,
      JUDGE_BASE_URL: endpoint.url(0),
      JUDGE_MODEL: "judge",
    },
  });
  const before = readRssMb(service.pid);
  if (before === undefined) return; // the system does not tell
  await evaluate(service.url, endpoint.url(0));
  report("memory of the service before its first run", before, { unit: "MB", digits: 0 });
  report("with everything loaded", readRssMb(service.pid)!, { unit: "MB", bound: 250, digits: 0 });
  report("the most meanwhile", readPeakMb(service.pid)!, { unit: "MB", digits: 0 });
  await Deno.remove(folder, { recursive: true });
}

async function evaluate(url: string, endpoint: string): Promise<void> {
  const test_batch = Array.from({ length: 25 }, (_, scenario) => ({
    id: `${scenario}`,
    interactions: REFERENCES.map((reference_reply, turn) => ({
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
