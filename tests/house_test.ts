import { assert, assertEquals } from "@std/assert";
import { importsOf, readTests, ROOMS, ROOT, type Source, sources } from "./fakes/source_files.ts";

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

/** What reports, routes and commands of the evaluation are about. */
const DOMAIN = ["ask", "figures", "run", "score", "store", "test"];

/**
 * The rooms of each service and the rooms that each may import: never one that uses it. Every room
 * may import the service's `config.ts`.
 */
const ARROWS: Record<string, Record<string, string[]>> = {
  agent: {
    core: [],
    mcp: ["core"],
    http: ["core", "mcp"],
    pages: ["core", "http"], // their types
  },
  eval: {
    test: ["score", "store"],
    ask: ["test"],
    score: ["ask", "test"],
    store: ["test"],
    figures: ["run", "score", "store", "test"],
    run: ["ask", "figures", "score", "store", "test"],
    report: DOMAIN,
    http: [...DOMAIN, "report"],
    pages: [...DOMAIN, "http", "report"], // types, and the words of reports
    // The command line is a client of the routes; it wires the service without a server.
    cli: [...DOMAIN, "report", "http", "wiring.ts"],
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

Deno.test("inside a service a room does not import the rooms that use it", () => {
  const wrong = sources.flatMap((source) => {
    const from = folderOf(source.path);
    if (!from) return [];
    return importsOf(source)
      .filter((path) => path.startsWith(`${from.service}/`) && !mayImport(from, path))
      .map((path) => `${source.path} -> ${path}`);
  });
  assertEquals(wrong, [], "see ARROWS in this file");
});

/** Rooms whose files below the first level are their own: what lies directly in them is the face. */
const DEEP = [
  "shared/http",
  "shared/providers",
  "eval/figures",
  "eval/run",
  "eval/score",
  "eval/store",
];

/** True if the path lies inside a deep room, below its face. */
const isInside = (path: string) =>
  DEEP.some((room) => path.startsWith(`${room}/`) && path.slice(room.length + 1).includes("/"));

const roomOf = (path: string) => DEEP.find((room) => path.startsWith(`${room}/`));

/** What of the insides of deep rooms is imported by files elsewhere. */
function openedInsides(files: Source[]): string[] {
  return files.flatMap((source) =>
    importsOf(source)
      .filter((path) => isInside(path) && roomOf(path) !== roomOf(source.path))
      .map((path) => `${source.path} -> ${path}`)
  );
}

Deno.test("other rooms import only the faces of the deep rooms", () => {
  assertEquals(openedInsides(sources), []);
});

/** What tests still open of the insides of deep rooms. Nothing is added: test at the face. */
const OPENED_BY_TESTS = new Set([
  "eval/figures/compare/paired_runs.ts",
  "eval/figures/compare/statistics/permutation.ts",
  "eval/figures/compare/statistics/planning.ts",
  "eval/figures/grades/statistics.ts",
  "eval/figures/leaks/find_leaks.ts",
  "eval/figures/leaks/training_texts.ts",
  "eval/figures/summary/labels.ts",
  "eval/figures/summary/mean_interval.ts",
  "eval/figures/summary/notes.ts",
  "eval/figures/summary/statistics.ts",
  "eval/figures/summary/summary.ts",
  "eval/figures/summary/turn_counts.ts",
  "eval/run/events/events.ts",
  "eval/run/execute/runner.ts",
  "eval/run/sharing/jobs.ts",
  "eval/run/sharing/open_sharing.ts",
  "eval/score/agreement/agreement.ts",
  "eval/score/agreement/wrong_values.ts",
  "eval/score/background/batcher.ts",
  "eval/score/background/memo.ts",
  "eval/score/background/remember_last.ts",
  "eval/score/checks/measures.ts",
  "eval/score/embeddings/bert/comparing.ts",
  "eval/score/embeddings/bert/kernel.ts",
  "eval/score/embeddings/bert/layout.ts",
  "eval/score/embeddings/bert/sentence_model.ts",
  "eval/score/embeddings/bert/weights.ts",
  "eval/score/embeddings/bert/word_pieces.ts",
  "eval/score/embeddings/windows.ts",
  "eval/score/language/language.ts",
  "eval/score/metadata/annotation.ts",
  "eval/score/metadata/annotator.ts",
  "eval/score/metadata/dialogue_act.ts",
  "eval/score/metadata/key_plan.ts",
  "eval/score/metadata/label.ts",
  "eval/score/metadata/label_index.ts",
  "eval/score/metadata/sentiment.ts",
  "eval/score/scores/judge.ts",
  "eval/score/scores/lexical/chrf.ts",
  "eval/score/scores/lexical/pair_scores.ts",
  "eval/score/scores/lexical/rouge.ts",
  "eval/score/scores/lexical/squad.ts",
  "eval/score/scores/metadata_match.ts",
  "eval/score/scores/scorer.ts",
  "eval/score/scores/semantic_similarity.ts",
  "eval/score/scores/similarity_method.ts",
  "eval/score/scores/tools.ts",
  "eval/score/text/lone_answers.ts",
  "eval/score/text/overlap.ts",
  "eval/score/text/wordless.ts",
  "eval/score/tools/compare_tools.ts",
  "eval/store/runs/run_reader.ts",
  "eval/store/runs/run_store.ts",
  "eval/store/schema/create_tables.ts",
  "eval/store/schema/schema.ts",
  "eval/store/turns/turn_writer.ts",
]);

Deno.test("tests open no inner file of a deep room but those that are listed", () => {
  const opened = openedInsides(readTests()).filter((found) =>
    !OPENED_BY_TESTS.has(found.split(" -> ")[1]!)
  );
  assertEquals(opened, []);
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

/** A circle of imports, those of types included. */
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

Deno.test("every import names a file, also those that are made on demand", () => {
  const known = new Set(sources.map(({ path }) => path));
  const isSource = (path: string) => /^(agent|eval|shared)\/.*(?<!\.d)\.tsx?$/.test(path);
  const missing = sources.flatMap((source) =>
    importsOf(source).filter((path) => isSource(path) && !known.has(path))
      .map((path) => `${source.path} -> ${path}`)
  );
  assertEquals(missing, []);
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

Deno.test("only shared/providers imports npm:openai, the client of every provider", () => {
  const importers = sources.filter((source) =>
    importsOf(source).some((imported) => /^openai(\/|$)/.test(imported))
  );
  assertEquals(importers.map(({ path }) => path), ["shared/providers/openai_client.ts"]);
});

Deno.test("LangGraph is used through its public interface", () => {
  const users = sources.filter((source) =>
    importsOf(source).some((imported) => /^@langchain\//.test(imported))
  );
  const isInternal = ({ text }: { text: string }) => /\._\w|__pregel/.test(text);
  assertEquals(users.filter(isInternal).map(({ path }) => path), []);
});
