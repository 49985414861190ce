import { assert, assertEquals } from "@std/assert";
import { importsOf, ROOT, type Source, sources } from "./fakes/source_files.ts";

Deno.test("PostgreSQL is loaded by calls only, never by importing a module", () => {
  const bare = sources.map(({ path, text }) => ({
    path,
    text: text.replaceAll(/await import\(\s*"[^"]+",?\s*\)/g, "").replaceAll(
      /^import type .*/gm,
      "",
    ),
  }));
  const importers = bare.filter((source) =>
    importsOf(source).some((imported) => /^pg(-boss)?$|RateLimiterPostgres/.test(imported))
  );
  assertEquals(importers.map(({ path }) => path), []);
});

Deno.test("importing any module starts nothing", async () => {
  // The entry of a page needs a browser; nothing imports it.
  const modules = sources.filter(({ path }) =>
    !/\/pages\/((report|docs|prepare)\/)?main\.tsx$/.test(path)
  );
  const script = modules.map(({ path }) => `await import("${new URL(path, ROOT)}");`).join("\n");
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  await Deno.writeTextFile(file, script);
  try {
    // Only reading modules is permitted; a server or a timer would keep the process running.
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--quiet",
        "--no-prompt",
        "--ignore-env",
        `--config=${new URL("deno.json", ROOT).pathname}`,
        file,
      ],
    }).output();
    const text = new TextDecoder();
    assertEquals([code, text.decode(stdout), text.decode(stderr)], [0, "", ""]);
  } finally {
    await Deno.remove(file);
  }
});

Deno.test("every worker has its own file name: a bundle finds workers by it", () => {
  const pattern = /new Worker\(\s*new URL\("\.\/([^"]+)", import\.meta\.url\)/g;
  const code = sources.map(({ text }) => text.replaceAll(/\/\*\*[^]*?\*\//g, "")); // not in comments
  const names = code.flatMap((text) => [...text.matchAll(pattern)].map((match) => match[1]!));
  assertEquals(names.toSorted(), [
    "check_worker.ts",
    "encoder_worker.ts",
    "long_text_worker.ts",
    "page_worker.ts",
    "sqlite_worker.ts",
  ]);
});

/** A module and all that it loads; what it imports for its types is not loaded. */
function loadedBy(path: string, found = new Set<Source>()): Set<Source> {
  const source = sources.find((source) => source.path === path);
  if (!source || found.has(source)) return found;
  found.add(source);
  const text = source.text.replaceAll(/^import type [^;]*;/gm, "");
  for (const imported of importsOf({ path, text })) loadedBy(imported, found);
  return found;
}

Deno.test("a worker that may not read files loads nothing on demand", () => {
  const workers = sources.filter(({ path }) => path.endsWith("_worker.ts"));
  assert(workers.length >= 5);
  const wrong = workers.flatMap(({ path }) =>
    [...loadedBy(path)]
      .filter(({ text }) => /(?<!typeof )\bimport\(/.test(text))
      .map((source) => `${path} -> ${source.path}`)
  );
  assertEquals(wrong, []);
});
