import { assertEquals } from "@std/assert";
import { createLineWriter, type LogLevel } from "../../shared/service/log.ts";
// lines are joined for 10 ms after each test
import { test } from "../fakes/leaky.ts";

function startWriter() {
  const written: string[] = [];
  const { write, flush } = createLineWriter((text) => written.push(text));
  return { write: (line: string, level: LogLevel = "info") => write(line, level), flush, written };
}

/** Longer than lines wait; a timer that was set later fires later. */
const pause = () => new Promise((resolve) => setTimeout(resolve, 50));

test("a single line is written at once, lines that follow it closely are written together", async () => {
  const { write, written } = startWriter();
  write("a");
  assertEquals(written, ["a"]);
  write("b");
  write("c");
  assertEquals(written, ["a"]);
  await pause();
  assertEquals(written, ["a", "b\nc"]);
});

test("after a pause a line is written at once again", async () => {
  const { write, written } = startWriter();
  write("a");
  await pause();
  write("b");
  assertEquals(written, ["a", "b"]);
});

test("a warning or an error is written at once, after the lines that wait", () => {
  const { write, written } = startWriter();
  for (const line of ["a", "b"]) write(line);
  write("c", "warn");
  write("d", "error");
  assertEquals(written, ["a", "b\nc", "d"]);
});

test("a flush writes what waits, once and in its order", () => {
  const { write, flush, written } = startWriter();
  for (const line of ["a", "b", "c"]) write(line);
  flush();
  flush();
  assertEquals(written, ["a", "b\nc"]);
});

test("lines that cannot be written are lost, and their number is told once others can", () => {
  const written: string[] = [];
  const losses: number[] = [];
  let isFull = true;
  const { write, flush } = createLineWriter((text) => {
    if (isFull) throw new Error("No space left on device");
    written.push(text);
  }, (lines) => losses.push(lines));
  for (const line of ["a", "b", "c"]) write(line, "info");
  flush();
  assertEquals([written, losses], [[], []]);
  isFull = false;
  write("d", "info");
  flush();
  write("e", "info");
  flush();
  // on a line of its own: a part of "c" may have been written
  assertEquals([written, losses], [["\nd", "e"], [3]]);
});

test("lines that wait are written when the process exits or fails", async () => {
  const module = new URL("../../shared/service/log.ts", import.meta.url);
  for (const [end, code] of [["Deno.exit(3)", 3], ["setTimeout(() => { throw new Error() })", 1]]) {
    const script = `import { createLineWriter } from "${module}";
      const lines = createLineWriter((text) => console.log(text));
      for (const end of ["unload", "error"]) addEventListener(end, lines.flush);
      for (const line of ["a", "b"]) lines.write(line, "info");
      ${end};`;
    const output = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-lock", "--allow-read", `data:text/javascript,${encodeURI(script)}`],
      stderr: "null",
    }).output();
    assertEquals([output.code, new TextDecoder().decode(output.stdout)], [code, "a\nb\n"]);
  }
});
