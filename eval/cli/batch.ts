import type { FieldError } from "../../shared/errors.ts";
import { listFieldErrors } from "../../shared/field_errors.ts";
import { type EvaluateRequest, evaluateRequest } from "../../shared/schemas/evaluate.ts";
import { UsageError } from "./command.ts";

/** Values from the command line. They override those of a request body. */
export interface BatchOptions {
  endpoint?: string;
  model_id?: string;
  attempts?: number;
  test_name?: string;
  pass_threshold?: number;
}

const WHAT_IT_MAY_BE = "one request body, an array of scenarios, or one scenario per line";

/**
 * Reads a request from a file that holds a request body, one scenario, an array of scenarios, or one
 * scenario per line (JSONL). Throws `UsageError` with every field that is wrong.
 */
export function parseBatch(
  text: string,
  { options, maxAttempts }: { options: BatchOptions; maxAttempts: number },
): EvaluateRequest {
  const body = { ...toBody(parseText(text)), ...options };
  const result = evaluateRequest(maxAttempts).safeParse(body);
  if (result.success) return result.data;
  throw new UsageError(
    `cannot use the batch:\n${listFieldErrors(result.error).map(describe).join("\n")}`,
  );
}

const OPTION_OF: Record<string, string> = {
  endpoint: " (--endpoint URL)",
  model_id: " (--model ID)",
  attempts: " (--attempts N)",
};

function describe({ path, message }: FieldError): string {
  return `  ${path}${OPTION_OF[path] ?? ""}: ${message}`;
}

function toBody(value: unknown): Record<string, unknown> {
  if (Array.isArray(value)) return { test_batch: value };
  if (typeof value === "object" && value !== null) {
    if ("test_batch" in value) return { ...value };
    if ("interactions" in value) return { test_batch: [value] };
  }
  throw new UsageError(`cannot use the batch: it must hold ${WHAT_IT_MAY_BE}`);
}

function parseText(text: string): unknown {
  const plain = text.replace(/^\ufeff/, "");
  try {
    return JSON.parse(plain);
  } catch (error) {
    const lines = parseLines(plain);
    if (lines) return lines;
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError(`cannot use the batch: it is not JSON: ${reason}`);
  }
}

/** `undefined` if not even the first line is JSON: then the file was meant as one JSON value. */
function parseLines(text: string): unknown[] | undefined {
  const values: unknown[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    try {
      values.push(JSON.parse(line));
    } catch (error) {
      if (values.length === 0) return undefined;
      const reason = error instanceof Error ? error.message : String(error);
      throw new UsageError(`cannot use the batch: line ${index + 1} is not JSON: ${reason}`);
    }
  }
  return values.length === 0 ? undefined : values;
}
