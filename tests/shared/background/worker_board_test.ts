import { assertEquals } from "@std/assert";
import { createWorkerBoard } from "../../../shared/background/worker_board.ts";
import { createLogger } from "../../../shared/log.ts";

const death = { kind: "died", reason: "no weights", deaths: 1, retryInMs: 0 } as const;

Deno.test("each death is logged, restarts are counted, and a worker is down once a restart fails", () => {
  const lines: string[] = [];
  const log = createLogger({ level: "info", format: "json", write: (line) => lines.push(line) });
  const board = createWorkerBoard(log);
  const first = board.watch("encoder");
  const second = board.watch("encoder");
  board.watch("language");

  first({ ...death, failedStarts: 1 });
  first({ kind: "restarted" });
  assertEquals(board.check(), undefined);
  first({ ...death, deaths: 2, failedStarts: 2, retryInMs: 500 });
  second({ kind: "restarted" });
  second({ kind: "recovered" });
  assertEquals(board.check(), "the encoder worker cannot be started: no weights");
  first({ kind: "restarted" });
  first({ kind: "recovered" });
  assertEquals(board.check(), undefined);

  assertEquals([...board.restarts], [["encoder", 3], ["language", 0]]);
  const { time: _, ...line } = JSON.parse(lines[1]!);
  assertEquals(line, {
    level: "error",
    message: "worker died",
    worker: "encoder",
    reason: "no weights",
    deaths: 2,
    retry_in_ms: 500,
  });
  assertEquals(lines.map((line) => JSON.parse(line).message), [
    "worker died",
    "worker died",
    "worker recovered",
    "worker recovered",
  ]);
});
