import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { batchFile, cliContext } from "../../fakes/cli_context.ts";

const target = ["--endpoint", "http://model.example/v1", "--model", "m", "--concurrency", "1"];

Deno.test("a second Ctrl-C does not wait for the running call, and keeps what was answered", async () => {
  let calls = 0;
  const context = cliContext({
    files: { "b.json": batchFile(3) },
    target: {
      ask(_conversation, signal) {
        if (++calls === 1) return Promise.resolve({ content: "right", usage: null });
        context.interrupt();
        const { promise, reject } = Promise.withResolvers<never>();
        signal.addEventListener("abort", () => reject(signal.reason));
        queueMicrotask(() => context.force());
        return promise;
      },
    },
  });
  const { code, err } = await context.run("run", "b.json", ...target);
  assertEquals(code, 130);
  assertMatch(err, /1 of 3 turns are stored; continue with: assay-eval resume /);
  const [stored] = (await context.store.listRuns({ limit: 1 })).runs;
  assertEquals(stored!.status, "interrupted");
});

Deno.test("a run that is complete asks nothing when it is resumed, and is judged again", async () => {
  const context = cliContext({ files: { "b.json": batchFile(2) }, answer: () => "right" });
  await context.run("run", "b.json", ...target);
  const { code, err } = await context.run("resume", "latest", "--threshold", "1");
  assertEquals([code, context.asked.length], [0, 2]);
  assertStringIncludes(err, "nothing is left to run");
  assertEquals((await context.run("resume", "latest", "--baseline", "latest")).code, 1);
});

Deno.test("an internal fault ends with 1 and says how to continue", async () => {
  const context = cliContext({
    files: { "b.json": batchFile(2) },
    answer: () => {
      throw new TypeError("a fault of ours");
    },
  });
  const { code, err } = await context.run("run", "b.json", ...target);
  assertEquals(code, 1);
  assertStringIncludes(err, "the run stopped: the service failed; see its log\n");
  assertStringIncludes(err, "continue with: assay-eval resume ");
});
