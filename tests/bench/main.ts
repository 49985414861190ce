// deno-lint-ignore-file no-console -- a bench speaks to its terminal
/** `deno task bench [part …]`: figures as ratios taken side by side in one run. */
import { agentPeer } from "./agent_peer.ts";
import { compareSpeed } from "./compare_speed.ts";
import { evalMemory } from "./eval_memory.ts";
import { evalSpeed } from "./eval_speed.ts";
import { leaks } from "./leaks.ts";
import type { BenchPart } from "./measure.ts";
import { pages } from "./pages.ts";
import { requestFiles } from "./request_files.ts";
import { scoreQuality } from "./score_quality.ts";
import { similarityShares } from "./similarity.ts";
import { scale } from "./scale.ts";
import { trust } from "./trust.ts";

const PARTS: Record<string, BenchPart> = {
  "agent-peer": agentPeer,
  "request-files": requestFiles,
  "eval-speed": evalSpeed,
  "eval-memory": evalMemory,
  "similarity": similarityShares,
  "score-quality": scoreQuality,
  "compare-speed": compareSpeed,
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
