import { useEffect, useState } from "preact/hooks";
import { requestJson } from "../../shared/pages/api.ts";
import { Button } from "../../shared/pages/components/button.tsx";
import { Dialog, differs } from "../../shared/pages/components/dialog.tsx";
import { Checkbox, TextField } from "../../shared/pages/components/field.tsx";
import type { ToolReport } from "../core/tools/tool.ts";
import { DEFAULT_SETTINGS, type Settings } from "./conversation/conversation.ts";
import { chooseSettings, settings } from "./conversation/conversation_state.ts";

type NumberName = "temperature" | "maxTokens";

/** The settings with the numbers as they are typed. */
type Form = Omit<Settings, NumberName> & Record<NumberName, string>;

type FormErrors = Partial<Record<NumberName, string>>;

function findErrors({ temperature, maxTokens }: Form): FormErrors {
  const errors: FormErrors = {};
  if (temperature.trim() && !(Number(temperature) >= 0 && Number(temperature) <= 2)) {
    errors.temperature = "Enter a number from 0 to 2, or nothing.";
  }
  if (maxTokens.trim() && !(Number.isInteger(Number(maxTokens)) && Number(maxTokens) > 0)) {
    errors.maxTokens = "Enter a whole number above 0, or nothing.";
  }
  return errors;
}

function toSettings({ temperature, maxTokens, ...form }: Form): Settings {
  return {
    ...form,
    ...(temperature.trim() && { temperature: Number(temperature) }),
    ...(maxTokens.trim() && { maxTokens: Number(maxTokens) }),
  };
}

/** What is sent with every message of this conversation and of the next ones. */
export function SettingsDialog({ onClose }: { onClose: () => void }) {
  const { temperature, maxTokens } = settings.value;
  const [initial] = useState<Form>({
    ...DEFAULT_SETTINGS,
    ...settings.value,
    temperature: String(temperature ?? ""),
    maxTokens: String(maxTokens ?? ""),
  });
  const [form, setForm] = useState(initial);
  const [errors, setErrors] = useState<FormErrors>({});
  const change = (fields: Partial<Form>) => setForm({ ...form, ...fields });

  function submit(event: Event): void {
    event.preventDefault();
    const found = findErrors(form);
    setErrors(found);
    if (Object.keys(found).length > 0) return;
    chooseSettings(toSettings(form));
    onClose();
  }

  return (
    <Dialog title="Settings" hasEdits={differs(form, initial)} onClose={onClose}>
      <form class="dialog-body-form" onSubmit={submit} noValidate>
        <p class="muted small">For this conversation and new ones.</p>
        <TextField
          label="System prompt"
          hint="If it is empty, the service uses its own."
          dir="auto"
          rows={5}
          value={form.systemPrompt}
          onInput={(systemPrompt) => change({ systemPrompt })}
        />
        <div class="two-fields">
          <TextField
            label="Temperature"
            hint="If empty, the provider's default."
            error={errors.temperature}
            inputMode="decimal"
            value={form.temperature}
            onInput={(temperature) => change({ temperature })}
          />
          <TextField
            label="Maximum tokens per reply"
            hint="If empty, the provider's default."
            error={errors.maxTokens}
            inputMode="numeric"
            value={form.maxTokens}
            onInput={(maxTokens) => change({ maxTokens })}
          />
        </div>
        <Checkbox
          label="Use tools"
          hint="If it is off, the model answers alone, without the agent."
          checked={form.usesTools}
          onChange={(usesTools) => change({ usesTools })}
        />
        {form.usesTools && (
          <Checkbox
            label="Ask before tools run"
            hint="Each call waits until you approve or refuse it."
            checked={form.asksBeforeTools}
            onChange={(asksBeforeTools) => change({ asksBeforeTools })}
          />
        )}
        <ToolList />
        <div class="dialog-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit">Save</Button>
        </div>
      </form>
    </Dialog>
  );
}

/** The tools of the agent, and servers that are not ready. */
function ToolList() {
  const [report, setReport] = useState<ToolReport>();
  useEffect(() => {
    requestJson<ToolReport>("/tools").then(setReport, () => {}); // without it the rest still works
  }, []);
  if (!report) return null;
  const waiting = report.servers.filter(({ state }) => state !== "ready");
  return (
    <details class="reasoning">
      <summary>Tools of the agent ({report.tools.length})</summary>
      <dl class="tool-list" tabIndex={0}>
        {report.tools.map(({ name, description }) => (
          <div key={name}>
            <dt>
              <code>{name}</code>
            </dt>
            <dd>{description}</dd>
          </div>
        ))}
        {waiting.map(({ name, state, error }) => (
          <div key={name}>
            <dt>
              {name} <span class="badge warn">{state}</span>
            </dt>
            <dd>{error}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
