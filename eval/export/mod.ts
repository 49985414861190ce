import { csv } from "./csv.ts";
import type { ExportFormat } from "./format.ts";
import { html } from "./html.ts";
import { json } from "./json.ts";
import { jsonl } from "./jsonl.ts";
import { junit } from "./junit.ts";
import { markdown } from "./markdown.ts";

/** Every format that a run can be exported in. */
export const exportFormats: readonly ExportFormat[] = [json, jsonl, csv, junit, markdown, html];
