import { assertEquals } from "@std/assert";
import { createProgressDisplay, describeDuration } from "../../../eval/cli/process/progress.ts";

function stream(isTerminal: boolean) {
  const written: string[] = [];
  return {
    written,
    stream: { write: (text: string) => void written.push(text), isTerminal, columns: 80 },
  };
}

const at = (done: number, failed = 0, missing = 0) => ({
  done,
  failed,
  missing,
  total: 100,
  mean: done === 0 ? null : 0.8125,
  eta_ms: done === 0 ? null : 75_000,
});

Deno.test("on a terminal one line is drawn over itself, ten times a second at most", () => {
  let now = 0;
  const { written, stream: terminal } = stream(true);
  const display = createProgressDisplay(terminal, () => now);
  display.update(at(0));
  display.update(at(1)); // too soon
  now = 200;
  display.update(at(50, 2));
  display.close(at(100, 2));
  assertEquals(written, [
    `\r\x1b[K${"░".repeat(24)} 0/100 turns`,
    `\r\x1b[K${"█".repeat(12)}${"░".repeat(12)} 50/100 turns, 2 failed, mean 0.813, 1m 15s left`,
    `\r\x1b[K${"█".repeat(24)} 100/100 turns, 2 failed, mean 0.813`,
    "\n",
  ]);
});

Deno.test("in a log there are at most 21 plain lines, whatever the number of turns", () => {
  const { written, stream: log } = stream(false);
  const display = createProgressDisplay(log, () => 0);
  for (let done = 0; done <= 100; done++) display.update(at(done));
  display.close(at(100));
  assertEquals(written.length, 21);
  assertEquals(written[0], "0/100 turns\n");
  assertEquals(written[1], "5/100 turns, mean 0.813, 1m 15s left\n");
  assertEquals(written.at(-1), "100/100 turns, mean 0.813\n");
});

Deno.test("a run that stopped half-way leaves the point where it stopped in the log", () => {
  const { written, stream: log } = stream(false);
  const display = createProgressDisplay(log, () => 0);
  display.update(at(0));
  display.close(at(3));
  assertEquals(written.at(-1), "3/100 turns, mean 0.813, 1m 15s left\n");
});

for (const [ms, text] of [[400, "1s"], [59_000, "59s"], [3_600_000, "1h 0m"]] as const) {
  Deno.test(`${ms} ms are shown as ${text}`, () => assertEquals(describeDuration(ms), text));
}
