import { useRef, useState } from "preact/hooks";
import { send } from "../api.ts";
import { ApiProblem } from "../api_problem.ts";
import { Button } from "../components/button.tsx";
import { CodeBlock } from "../components/code_block.tsx";
import { CopyButton } from "../components/copy_button.tsx";
import { Field, TextField } from "../components/field.tsx";
import { ProblemNotice } from "../components/states.tsx";
import { formatDuration } from "../format.ts";
import { readTextPieces } from "../server_events.ts";
import type { ApiRoute, Parameter } from "./api_document.ts";
import {
  acceptsOf,
  emptyForm,
  findMissing,
  toCurl,
  toTryRequest,
  type TryValues,
} from "./try_request.ts";

/** Characters of an answer that are shown; a stream may go on for hours. */
const MAX_SHOWN = 100_000;

interface Result {
  status: number;
  type: string;
  ms: number;
  text: string;
  isRunning: boolean;
}

/** A form for a route: its parameters, its body, the answer as it comes, and the same as a command. */
export function TryForm({ route }: { route: ApiRoute }) {
  const [form, setForm] = useState<TryValues>(() => emptyForm(route));
  const [result, setResult] = useState<Result>();
  const [problem, setProblem] = useState<ApiProblem>();
  const [missing, setMissing] = useState<string[]>([]);
  const running = useRef<AbortController>(undefined);
  const request = toTryRequest(route, form);
  const accepts = acceptsOf(route);

  async function run(): Promise<void> {
    const found = findMissing(route, form);
    setMissing(found);
    if (found.length > 0) return;
    running.current?.abort();
    const controller = running.current = new AbortController();
    setProblem(undefined);
    try {
      await ask(request, { signal: controller.signal, onResult: setResult });
    } catch (error) {
      setResult((before) => before && { ...before, isRunning: false });
      if (error instanceof ApiProblem) setProblem(error);
      else if (!controller.signal.aborted) throw error;
    }
  }

  return (
    <form
      class="try"
      onSubmit={(event) => {
        event.preventDefault();
        void run();
      }}
    >
      {(route.parameters ?? []).map((parameter) => {
        const key = `${parameter.in} ${parameter.name}`;
        return (
          <ParameterField
            key={key}
            parameter={parameter}
            value={form.values[key] ?? ""}
            error={missing.includes(parameter.name) ? "This is required." : undefined}
            onChange={(value) => setForm({ ...form, values: { ...form.values, [key]: value } })}
          />
        );
      })}
      {route.requestBody && (
        <TextField
          label="Body"
          error={missing.includes("body") ? "This is not JSON." : undefined}
          class="input try-body"
          rows={Math.min(16, form.body.split("\n").length + 1)}
          spellcheck={false}
          value={form.body}
          onInput={(body) => setForm({ ...form, body })}
        />
      )}
      {accepts.length > 1 && (
        <Field label="Answer as">
          {(input) => (
            <select
              {...input}
              value={form.accept}
              onChange={(event) => setForm({ ...form, accept: event.currentTarget.value })}
            >
              {accepts.map((type) => <option key={type} value={type}>{type}</option>)}
            </select>
          )}
        </Field>
      )}
      <div class="try-actions">
        <Button kind="primary" type="submit">Send {route.method}</Button>
        {result?.isRunning && (
          <Button icon="stop" onClick={() => running.current?.abort()}>Stop</Button>
        )}
        <CopyButton
          text={toCurl(request, globalThis.location.origin)}
          label="Copy as curl"
          hasText
        />
      </div>
      {problem && <ProblemNotice problem={problem} />}
      {result && <ResultView result={result} />}
    </form>
  );
}

function ParameterField({ parameter, value, error, onChange }: {
  parameter: Parameter;
  value: string;
  error?: string | undefined;
  onChange: (value: string) => void;
}) {
  const { name, required, schema, in: place } = parameter;
  const label = `${name} (${place}${required ? ", required" : ""})`;
  const choices = schema?.enum?.map(String);
  if (!choices) {
    return (
      <TextField label={label} error={error} spellcheck={false} value={value} onInput={onChange} />
    );
  }
  return (
    <Field label={label} error={error}>
      {(input) => (
        <select
          {...input}
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
        >
          <option value="">none</option>
          {choices.map((choice) => <option key={choice} value={choice}>{choice}</option>)}
        </select>
      )}
    </Field>
  );
}

function ResultView({ result: { status, type, ms, text, isRunning } }: { result: Result }) {
  const kind = status < 300 ? "good" : status < 400 ? "" : "bad";
  return (
    <div class="try-result" role="status">
      <div class="try-facts">
        <span class={`badge ${kind}`}>{status}</span>
        <span class="muted small">{type || "no body"}</span>
        <span class="muted small number">{formatDuration(ms)}{isRunning && "…"}</span>
      </div>
      {text && <CodeBlock text={text} language={/json/.test(type) ? "json" : "text"} />}
    </div>
  );
}

/** Sends the request and reports the answer as it comes. JSON is indented at the end. */
async function ask(
  { path, method, headers, body }: ReturnType<typeof toTryRequest>,
  { signal, onResult }: { signal: AbortSignal; onResult: (result: Result) => void },
): Promise<void> {
  const started = performance.now();
  const response = await send(path, {
    method: method as "GET",
    headers,
    signal,
    ...(body && { body: JSON.parse(body) }),
  });
  const { status } = response;
  const type = response.headers.get("content-type")?.split(";")[0] ?? "";
  let text = "";
  const report = (isRunning: boolean, shown = text) =>
    onResult({ status, type, ms: performance.now() - started, text: shown, isRunning });
  report(true);
  for await (const piece of response.body ? readTextPieces(response.body) : []) {
    text += piece;
    if (text.length > MAX_SHOWN) {
      return report(false, `${text.slice(0, MAX_SHOWN)}\n… cut here`);
    }
    report(true);
  }
  report(false, /json$/.test(type) ? indent(text) : text);
}

function indent(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
