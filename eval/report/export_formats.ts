import { csv } from "./formats/csv.ts";
import type { ExportFormat } from "./format.ts";
import { ctrf } from "./formats/ctrf.ts";
import { html } from "./formats/html.ts";
import { json, jsonl } from "./formats/json.ts";
import { junit, junitScenarios } from "./formats/junit.ts";
import { markdown, text } from "./formats/markdown.ts";

export const exportFormats: readonly ExportFormat[] = [
  json,
  jsonl,
  csv,
  junit,
  junitScenarios,
  ctrf,
  markdown,
  text,
  html,
];
