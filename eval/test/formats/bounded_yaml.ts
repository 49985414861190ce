import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  parse,
  parseDocument,
  visit,
} from "yaml";
import { errorMessage } from "../../../shared/service/errors.ts";
import { ImportError } from "./format.ts";

/** The most tokens of a text: reading it blocks the event loop. A table or JSONL does not. */
const MOST_TOKENS = 200_000;
/** Aliases that contain each other expand to any length. */
const MOST_ALIASES = 100;

/** A YAML text, with the lines of what it contains. */
interface YamlFile {
  root: unknown;
  /** Where an item of a list begins: of the root's list `part`, or of the root if that is a list. */
  lineOf(part: string, index: number): number;
}

/** Reads a file of YAML or JSON. Throws `ImportError` with the line that cannot be read. */
export function readYaml(text: string): YamlFile {
  requireFewTokens(text);
  const counter = new LineCounter();
  // Its own search for repeated keys takes time that grows with the square of their number.
  const yaml = parseDocument(text, { lineCounter: counter, uniqueKeys: false });
  const [error] = yaml.errors;
  if (error) throw new ImportError(error.linePos?.[0].line ?? 1, reasonOf(error));
  return {
    root: toTree(yaml, counter),
    lineOf(part, index) {
      const list = isMap(yaml.contents) ? yaml.get(part) : yaml.contents;
      const node = isSeq(list) ? list.items[index] as { range?: [number] } | null : null;
      return counter.linePos(node?.range?.[0] ?? 0).line;
    },
  };
}

/** The value of a YAML text. Throws if it is invalid. */
export function parseYaml(text: string): unknown {
  requireFewTokens(text);
  return parse(text, { logLevel: "error", maxAliasCount: MOST_ALIASES });
}

/** A document takes half a kilobyte of memory for each of its tokens. */
function requireFewTokens(text: string): void {
  let tokens = 0;
  for (const _ of new Lexer().lex(text)) {
    if (++tokens > MOST_TOKENS) {
      throw new ImportError(
        1,
        `it has more than ${MOST_TOKENS} tokens of YAML; divide it, or write one test per line (JSONL)`,
      );
    }
  }
}

/** The value of a document. Aliases may be unknown, too many, or make an endless tree. */
function toTree(yaml: Document.Parsed, counter: LineCounter): unknown {
  try {
    requireDistinctKeys(yaml, counter);
    const root = yaml.toJS({ maxAliasCount: MOST_ALIASES });
    JSON.stringify(root); // fails if something contains itself
    return root;
  } catch (error) {
    if (error instanceof ImportError) throw error;
    throw new ImportError(1, reasonOf(error));
  }
}

/** The package recurses, and reports a stack that overflows as an error of the text. */
function reasonOf(error: unknown): string {
  const [message = ""] = errorMessage(error).split("\n");
  return /call stack/i.test(message) ? "it is nested too deeply" : message;
}

function requireDistinctKeys(yaml: Document.Parsed, counter: LineCounter): void {
  visit(yaml, {
    Map(_, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) {
          const { line } = counter.linePos(key.range?.[0] ?? 0);
          throw new ImportError(line, `the key ${key.value} occurs twice`);
        }
        seen.add(key.value);
      }
    },
  });
}
