// deno-lint-ignore-file no-console -- a bench speaks to its terminal
/** `deno task bench [part …]`: figures as ratios taken side by side in one run. */
import { agentPeer } from "./agent_peer.ts";
import { agentMemory, agentSpeed } from "./agent_speed.ts";
import { agentStream } from "./agent_stream.ts";
import { agentChunks } from "./agent_chunks.ts";
import { checkLimits } from "./check_limits.ts";
import { datasetStream } from "./datasets.ts";
import { encoderCost } from "./encoder.ts";
import { evalLarge } from "./eval_large.ts";
import { evalMemory } from "./eval_memory.ts";
import { evalSpeed } from "./eval_speed.ts";
import { groupCompare } from "./group_compare.ts";
import { labelQuality } from "./label_quality.ts";
import { largeExport } from "./large_export.ts";
import { largeRead } from "./large_read.ts";
import { leaks } from "./leaks.ts";
import type { BenchPart } from "./measure.ts";
import { promptfooVerdicts } from "./promptfoo_verdicts.ts";
import { pages } from "./pages.ts";
import { requestFiles } from "./request_files.ts";
import { scoreCost } from "./score_cost.ts";
import { scoreQuality } from "./score_quality.ts";
import { scoreSpeed } from "./score_speed.ts";
import { similarityShares } from "./similarity.ts";
import { scale } from "./scale.ts";
import { resumeSpeed, storeSpeed } from "./storage.ts";
import { trust } from "./trust/main.ts";

const PARTS: Record<string, BenchPart> = {
  "agent-speed": agentSpeed,
  "agent-peer": agentPeer,
  "agent-stream": agentStream,
  "agent-chunks": agentChunks,
  "agent-memory": agentMemory,
  "request-files": requestFiles,
  "eval-speed": evalSpeed,
  "eval-large": evalLarge,
  "eval-memory": evalMemory,
  "datasets": datasetStream,
  "check-limits": checkLimits,
  "encoder": encoderCost,
  "similarity": similarityShares,
  "score-speed": scoreSpeed,
  "score-cost": scoreCost,
  "score-quality": scoreQuality,
  "label-quality": labelQuality,
  "promptfoo-verdicts": promptfooVerdicts,
  "store-speed": storeSpeed,
  "resume-speed": resumeSpeed,
  "large-export": largeExport,
  "large-read": largeRead,
  "group-compare": groupCompare,
  leaks,
  scale,
  pages,
  trust,
};

const wanted = Deno.args.length > 0 ? Deno.args : Object.keys(PARTS);
for (const name of wanted) {
  const part = PARTS[name];
  if (!part) {
    console.error(`there is no part "${name}"; the parts are ${Object.keys(PARTS).join(", ")}`);
    Deno.exit(1);
  }
  console.log(name);
  await part();
}
Deno.exit(0); // the workers of an evaluation wait for the next one
