import core from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import cpp from "highlight.js/lib/languages/cpp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import markdown from "highlight.js/lib/languages/markdown";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

const LANGUAGES = {
  bash,
  cpp,
  css,
  diff,
  go,
  java,
  javascript,
  json,
  markdown,
  python,
  rust,
  sql,
  typescript,
  xml,
  yaml,
};
for (const [name, language] of Object.entries(LANGUAGES)) core.registerLanguage(name, language);

/** A piece of code, or pieces that are of one kind, such as `keyword`. */
export type CodePiece = string | { scope?: string; children: CodePiece[] };

/** Beyond this, in characters, code is shown plain: it would keep the page busy. */
const LONGEST = 50_000;

/** Code in pieces by their kind; `undefined` if its language is not known here. */
export function highlightCode(text: string, language: string): CodePiece[] | undefined {
  if (text.length > LONGEST || !core.getLanguage(language)) return undefined;
  const { _emitter } = core.highlight(text, { language, ignoreIllegals: true }) as unknown as {
    _emitter: { root: { children: CodePiece[] } };
  };
  return _emitter.root.children;
}
