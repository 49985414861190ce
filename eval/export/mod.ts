import { csv } from "./csv.ts";
import type { ExportFormat } from "./format.ts";
import { jsonl } from "./jsonl.ts";
import { junit } from "./junit.ts";
import { markdown } from "./markdown.ts";

/** Every format that a run can be exported in. */
export const exportFormats: readonly ExportFormat[] = [jsonl, csv, junit, markdown];
