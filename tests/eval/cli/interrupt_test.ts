import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { batchFile, cliContext } from "../../fakes/cli_context.ts";
import { until } from "../../fakes/until.ts";

const target = ["--endpoint", "http://model.example/v1", "--model", "m", "--concurrency", "1"];

Deno.test("Ctrl-C lets the running call finish, says how to resume, and resume asks the rest", async () => {
  let calls = 0;
  const context = cliContext({
    files: { "b.json": batchFile(5) },
    target: {
      async ask() {
        if (++calls === 2) {
          context.interrupt();
          await until(() => context.written().err.includes("stopping after") || undefined);
        }
        return { content: "right", usage: null };
      },
    },
  });
  const stopped = await context.run("run", "b.json", ...target);
  assertEquals(stopped.code, 130);
  assertEquals(calls, 2);
  const [, id] = stopped.err.match(
    /2 of 5 turns are stored; continue with: assay-eval resume (\S+)\n/,
  )!;
  assertEquals((await context.store.getRun(id!))!.status, "interrupted");

  const again = cliContextOn(context);
  const resumed = await again.run("resume", id!);
  assertEquals([resumed.code, again.asked.length], [0, 3]);
  assertStringIncludes(resumed.out, "Turns 5 of 5: 5 pass");
});

/** The next process, where nobody has pressed Ctrl-C. */
function cliContextOn({ store }: { store: ReturnType<typeof cliContext>["store"] }) {
  return cliContext({ answer: () => "right", store });
}

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
