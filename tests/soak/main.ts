// deno-lint-ignore-file no-console -- a script speaks to its terminal
/** `deno task soak [minutes] [requests per second]`: 10 minutes at 200 requests/s by default. */
import { soak } from "./soak.ts";

const [minutes = "10", rate = "200"] = Deno.args;
const MOST_GROWTH = 1;

const report = await soak({
  seconds: Number(minutes) * 60,
  requestsPerSecond: Number(rate),
  isWarm: true,
  warmUpSeconds: 60,
  onSample({ second, agent, eval: evaluation }) {
    if (second % 15 !== 0) return;
    console.log(`${second} s: agent ${agent.toFixed(1)} MB, eval ${evaluation.toFixed(1)} MB`);
  },
});

const { sent, missed, unexpected, deaths, slope } = report;
if (missed > 0) {
  console.log(`${missed} requests were not sent: the machine is too slow for ${rate}/s`);
}
console.log(`${sent} requests, ${unexpected.length} with an unexpected answer`);
const byKind = Map.groupBy(unexpected, (line) => line.replace(/,"request_id":"[^"]*"/, ""));
for (const [line, { length }] of byKind) console.log(`  ${length} × ${line}`);
for (const [name, count] of Object.entries(deaths)) console.log(`deaths, ${name}: ${count}`);
console.log(
  `growth after the first minute: agent ${slope.agent.toFixed(2)} MB/min, ` +
    `eval ${slope.eval.toFixed(2)} MB/min (at most ${MOST_GROWTH})`,
);
const isGood = unexpected.length === 0 && slope.agent < MOST_GROWTH && slope.eval < MOST_GROWTH;
Deno.exit(isGood ? 0 : 1);
