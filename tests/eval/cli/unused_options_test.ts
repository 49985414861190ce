import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { batchFile, cliContext } from "../../fakes/cli_context.ts";

const AT = ["--endpoint", "http://model.example/v1"];
const context = () => cliContext({ files: { "b.jsonl": batchFile(2) } });

const OF_A_RUN: [options: string[], says: string][] = [
  [["--format", "junit", "--rows", "scores"], "--rows is for jsonl and csv"],
  [["--format", "csv", "--noise"], "--noise with rows of turns is for json, markdown and html"],
  [["--format", "jsonl", "--threshold", "0.9"], "--threshold is for junit, markdown and html"],
  [["-o", "a.json", "-o", "b.xml", "--rows", "turns"], "--rows is for jsonl and csv"],
];

Deno.test("an export names an option that none of its formats uses", async () => {
  const { run } = context();
  await run("run", "b.jsonl", ...AT, "--model", "a");
  for (const [options, says] of OF_A_RUN) {
    const { code, err } = await run("export", "latest", ...options);
    assertEquals(code, 1, options.join(" "));
    assertStringIncludes(err, says);
  }
  const used = ["-o", "a.csv", "-o", "b.xml", "--rows", "scores", "--threshold", "0.9"];
  assertEquals((await run("export", "latest", ...used)).code, 0);
});

Deno.test("an export of a group takes a threshold for its JUnit XML, and no rows or noise", async () => {
  const { run } = context();
  const { err } = await run("run", "b.jsonl", ...AT, "--model", "a", "--model", "b");
  const [, id] = /^group (\S{36})$/m.exec(err) ?? [];
  for (const options of [["--rows", "scores", "--format", "csv"], ["--noise"]]) {
    const refused = await run("export", id!, ...options);
    assertEquals(refused.code, 1);
    assertStringIncludes(refused.err, `${options[0]} `);
    assertStringIncludes(refused.err, "is for the runs of a group, one by one");
  }
  assertEquals((await run("export", id!, "--threshold", "0.9")).code, 1);
  const { out } = await run("export", id!, "--format", "junit", "--threshold", "0.123");
  assert(out.includes('name="threshold" value="0.123"'), out);
});

Deno.test("what says how a file is read is refused for a dataset, and columns for what is no table", async () => {
  const { run } = context();
  for (const option of [["--format", "csv"], ["--column", "user_message=q"]]) {
    const { code, err } = await run("run", "--dataset", "d", ...AT, "--model", "a", ...option);
    assertEquals(code, 1);
    assertStringIncludes(err, "--format and --column are for files");
  }
  const columns = ["--format", "jsonl", "--column", "user_message=q"];
  for (const command of [["run", "b.jsonl", ...AT], ["datasets", "put", "d", "b.jsonl"]]) {
    const { code, err } = await run(...command, ...columns);
    assertEquals(code, 1);
    assertStringIncludes(err, "--column is for tables (csv), and the file is read as jsonl");
  }
});
