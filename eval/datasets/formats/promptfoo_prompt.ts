import { parseYaml } from "./bounded_yaml.ts";
import type { ImportContext } from "./format.ts";
import { isFields } from "../../../shared/fields.ts";
import { render, renderAll, type TemplateContext } from "./promptfoo_template.ts";

/** The first prompt that is written in the configuration itself. */
export function findPrompt(
  prompts: unknown,
  leaveOut: ImportContext["leaveOut"],
): string | undefined {
  const all = Array.isArray(prompts) ? prompts : prompts === undefined ? [] : [prompts];
  const texts = all.map((prompt) => isFields(prompt) ? prompt.raw ?? prompt.id : prompt)
    .filter((text): text is string => typeof text === "string" && !isFileName(text));
  if (texts.length < all.length) leaveOut("prompts in other files", 1);
  if (texts.length > 1) leaveOut("all prompts but the first", 1);
  return texts[0];
}

/** Such as `file://prompt.txt`, `prompts/*.json` and `prompt.py:create`, but not a sentence. */
export function isFileName(text: string): boolean {
  if (/^(?:file|exec):\/\//.test(text)) return true;
  return !text.includes("{{") && /^\S+\.\w{1,5}(?::\w+)?$/.test(text);
}

/**
 * The chat messages that a prompt is the JSON or the YAML of, or its text. Variables are put into
 * the messages, so that a quotation mark in one of them does no harm; into the prompt only if it is
 * no list of messages before (`{{ messages }}`).
 */
export function readPrompt(
  prompt: string,
  context: TemplateContext,
): unknown[] | string {
  const messages = parseMessages(prompt);
  if (messages) return renderAll(messages, context) as unknown[];
  const text = render(prompt, context);
  return parseMessages(text) ?? text;
}

function parseMessages(text: string): unknown[] | undefined {
  const isJson = /^\s*\[/.test(text);
  if (!isJson && !/^\s*- role:/.test(text)) return undefined;
  try {
    const value = isJson ? JSON.parse(text) : parseYaml(text);
    return Array.isArray(value) && value.every(isMessage) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** In YAML, `content: {{question}}` is an object before the variable is put in. */
function isMessage(value: unknown): boolean {
  return isFields(value) && !isFields(value.content);
}
