import { assert, assertEquals } from "@std/assert";

const ROOT = new URL("../", import.meta.url);
const ROOMS = ["agent", "eval", "shared"] as const;

interface Source {
  path: string;
  text: string;
}

function* readSources(folder: string): Generator<Source> {
  for (const entry of Deno.readDirSync(new URL(folder, ROOT))) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) yield* readSources(path);
    else if (/(?<!\.d)\.tsx?$/.test(path)) {
      yield { path, text: Deno.readTextFileSync(new URL(path, ROOT)) };
    }
  }
}

const sources = ROOMS.flatMap((room) => [...readSources(room)]);

function importsOf({ path, text }: Source): string[] {
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map((match) =>
    match[1]!
  );
  return specifiers.map((specifier) =>
    specifier.startsWith(".")
      ? new URL(specifier, new URL(path, ROOT)).href.slice(ROOT.href.length)
      : specifier
  );
}

Deno.test("agent and eval never import each other, and shared imports neither", () => {
  for (const source of sources) {
    const [room] = source.path.split("/");
    const others = ROOMS.filter((other) => other !== room && other !== "shared");
    for (const imported of importsOf(source)) {
      assert(
        !others.some((other) => imported.startsWith(`${other}/`)),
        `${source.path} imports ${imported}`,
      );
    }
  }
});

/** What exports, routes and commands of the evaluation are about. */
const DOMAIN = [
  "assess",
  "compare",
  "endpoint",
  "grades",
  "groups",
  "noise",
  "results",
  "run",
  "store",
];

/**
 * The folders of each service and the folders that each may import: never one that uses it. Every
 * folder may import the service's `config.ts`.
 */
const ARROWS: Record<string, Record<string, string[]>> = {
  agent: {
    tools: [],
    models: [],
    pages: ["answer", "openai", "run", "tools"], // their types
    mcp: ["tools"],
    run: ["models", "tools"],
    answer: ["models", "run", "tools"],
    openai: ["answer", "models", "run", "tools"],
    api: ["answer", "mcp", "models", "openai", "run", "tools"],
  },
  eval: {
    endpoint: [],
    store: [],
    datasets: ["assess", "store"],
    pages: ["api", "assess", "compare", "endpoint", "groups", "noise", "results", "run", "store"], // types
    assess: ["endpoint"],
    results: ["assess", "endpoint", "store"],
    compare: ["assess", "endpoint", "results", "store"],
    run: ["assess", "datasets", "endpoint", "results", "store"],
    noise: ["assess", "compare", "results", "store"],
    groups: ["assess", "compare", "endpoint", "results", "run", "store"],
    grades: ["assess", "results", "run", "store"],
    export: DOMAIN,
    api: [...DOMAIN, "datasets", "export"],
    sharing: ["endpoint", "run", "store"],
    // The command line is a program of its own: it wires the service without a server.
    cli: [...DOMAIN, "datasets", "export", "sharing", "wiring.ts"],
  },
};

/** A service's root holds its wiring, and nothing else. */
const ROOT_FILES = ["main.ts", "service.ts", "config.ts", "handler.ts", "wiring.ts"];

/** The folder of a service that a file is in; `undefined` for files of its root and elsewhere. */
function folderOf(path: string): { service: string; folder: string } | undefined {
  const [service = "", folder = "", ...rest] = path.split("/");
  return service in ARROWS && rest.length > 0 ? { service, folder } : undefined;
}

/** True if files of this folder may import `path`, another file of their service. */
function mayImport({ service, folder }: { service: string; folder: string }, path: string) {
  const [, target = ""] = path.split("/");
  const allowed = [folder, "config.ts", ...ARROWS[service]?.[folder] ?? []];
  return allowed.includes(target);
}

Deno.test("inside a service a folder does not import the folders that use it", () => {
  const wrong = sources.flatMap((source) => {
    const from = folderOf(source.path);
    if (!from) return [];
    return importsOf(source)
      .filter((path) => path.startsWith(`${from.service}/`) && !mayImport(from, path))
      .map((path) => `${source.path} -> ${path}`);
  });
  assertEquals(wrong, [], "see ARROWS in this file");
});

Deno.test("a service's root contains its wiring, and only folders of the table", () => {
  for (const service of Object.keys(ARROWS)) {
    const known = [...ROOT_FILES, ...Object.keys(ARROWS[service]!)];
    for (const { name } of Deno.readDirSync(new URL(service, ROOT))) {
      const path = `${service}/${name}`;
      assert(known.includes(name), `${path} is not known; see ARROWS`);
    }
  }
});

Deno.test("the picture in docs/architecture.md has the folders of both services and of shared", () => {
  const page = Deno.readTextFileSync(new URL("docs/architecture.md", ROOT));
  const [, picture = ""] = /^```text\n([^]*?)^```$/m.exec(page) ?? [];
  const drawn: Record<string, string[]> = { agent: [], eval: [], shared: [] };
  for (const [left = "", right] of picture.split("\n").map((line) => line.split(/\|\s+\|/))) {
    const foldersIn = (text: string) =>
      [...text.matchAll(/(?<=^|[|\s])(\w+)\/\s/g)].map((found) => found[1]!);
    if (right === undefined) drawn.shared!.push(...foldersIn(left));
    else {
      drawn.agent!.push(...foldersIn(left));
      drawn.eval!.push(...foldersIn(right));
    }
  }
  const foldersOf = (room: string) =>
    [...Deno.readDirSync(new URL(room, ROOT))].filter((entry) => entry.isDirectory)
      .map(({ name }) => name);
  for (const room of ROOMS) {
    const names = new Set(drawn[room]!.filter((name) => !(name in drawn)));
    assertEquals(names, new Set(foldersOf(room)), `the folders of ${room}/`);
  }
});

/** A way through the imports that comes back to where it began; types count too. */
function findCircle(imports: Map<string, string[]>): string[] | undefined {
  const done = new Set<string>();
  function search(path: string, trail: string[]): string[] | undefined {
    const at = trail.indexOf(path);
    if (at >= 0) return [...trail.slice(at), path];
    if (done.has(path)) return undefined;
    for (const next of imports.get(path) ?? []) {
      const circle = search(next, [...trail, path]);
      if (circle) return circle;
    }
    done.add(path);
    return undefined;
  }
  for (const path of imports.keys()) {
    const circle = search(path, []);
    if (circle) return circle;
  }
  return undefined;
}

Deno.test("no imports form a circle, not even those of types", () => {
  assertEquals(
    findCircle(new Map(Object.entries({ a: ["b"], b: ["c", "d"], c: ["d"] }))),
    undefined,
  );
  assertEquals(findCircle(new Map(Object.entries({ a: ["b"], b: ["c"], c: ["b"] }))), [
    "b",
    "c",
    "b",
  ]);
  const circle = findCircle(new Map(sources.map((source) => [source.path, importsOf(source)])));
  assertEquals(circle?.join(" -> "), undefined);
});

Deno.test("only main and config read the environment", () => {
  for (const { path, text } of sources) {
    if (/(main|config)\.ts$/.test(path)) continue;
    assert(!/Deno\.env|process\.env/.test(text), `${path} reads the environment`);
  }
});

Deno.test("only pages use what only a browser has, and they use nothing of Deno's", () => {
  const isOfPage = (path: string) => /^\w+\/pages\//.test(path) && !path.endsWith("/pages/page.ts");
  for (const source of sources) {
    const { path, text } = source;
    if (isOfPage(path)) assert(!/\bDeno\.|\bnode:/.test(text), `${path} uses Deno`);
    else {
      assert(
        !/\b(document|window|localStorage|sessionStorage)\.[a-z]/.test(text),
        `${path}: browser`,
      );
      const wrong = importsOf(source).filter((imported) => isOfPage(imported));
      assertEquals(wrong.filter((imported) => !imported.includes("/bundle/")), [], path);
    }
  }
});

Deno.test("no source imports npm:openai, which is a client of the services", () => {
  const importers = sources.filter((source) =>
    importsOf(source).some((imported) => /^openai(\/|$)/.test(imported))
  );
  assertEquals(importers.map(({ path }) => path), []);
});

Deno.test("whoever starts a service does not fetch npm:openai, an optional peer of a dependency", () => {
  const { npm } = JSON.parse(Deno.readTextFileSync(new URL("deno.lock", ROOT)));
  assertEquals(Object.keys(npm).filter((name) => name.startsWith("openai@")), []);
});

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
    // Nothing is granted but what reading a module takes; a server or a timer would keep it running.
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
    "promptfoo_worker.ts",
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

/** What a sentence encoder loads before it gives up reading. */
const READ_AT_START = ["encoder_worker.ts", "bert/minilm.ts", "bert/bge_zh.ts"].map((name) =>
  `eval/assess/embeddings/${name}`
);

Deno.test("a worker that may not read files loads nothing on demand", () => {
  const workers = sources.filter(({ path }) => path.endsWith("_worker.ts"));
  assert(workers.length >= 5);
  const wrong = workers.flatMap(({ path }) =>
    [...loadedBy(path)]
      .filter(({ path, text }) =>
        !READ_AT_START.includes(path) && /(?<!typeof )\bimport\(/.test(text)
      )
      .map((source) => `${path} -> ${source.path}`)
  );
  assertEquals(wrong, []);
});

Deno.test("tests/deno.json has everything of deno.json, in the same versions", async () => {
  const read = async (path: string) => JSON.parse(await Deno.readTextFile(new URL(path, ROOT)));
  const own = await read("deno.json");
  const tests = await read("tests/deno.json");
  const names = Object.keys(own.imports);
  const shared = Object.fromEntries(names.map((name) => [name, tests.imports[name]]));
  assertEquals(shared, own.imports);
  // Tests fetch everything first: of two copies of a package, a lazy cache may lack the second.
  assertEquals([...tests.unstable, "npm-lazy-caching"], own.unstable);
  const { types: _, ...options } = tests.compilerOptions;
  const { types: __, ...ownOptions } = own.compilerOptions;
  assertEquals(options, ownOptions);
});

Deno.test("deno task dev starts all of its tasks, also on one processor", async () => {
  const { tasks } = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
  // Deno runs as many tasks at once as there are processors, unless it is told otherwise.
  const [, jobs] = /^DENO_JOBS=(\d+) deno task -q dev:all$/.exec(tasks.dev.command) ?? [];
  assertEquals(Number(jobs), tasks["dev:all"].dependencies.length);
});
