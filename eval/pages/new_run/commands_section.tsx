import { Button } from "../../../shared/pages/components/button.tsx";
import { CopyButton } from "../../../shared/pages/components/copy_button.tsx";
import { Section } from "../frame.tsx";
import { commandLine, curlCommand } from "./commands.ts";
import { requestBody, scenarios } from "./draft.ts";

/** The same run without this page. */
export function Commands() {
  if (scenarios.value.length === 0) return null;
  const body = requestBody.value;
  return (
    <Section
      title="The same from a shell"
      actions={
        <span class="row">
          <Button isSmall icon="download" onClick={() => save("request.json", body)}>
            request.json
          </Button>
          <Button isSmall icon="download" onClick={() => save("batch.json", body.test_batch)}>
            batch.json
          </Button>
        </span>
      }
    >
      <Command label="curl" text={curlCommand(globalThis.location.origin)} />
      <Command label="command line" text={commandLine(body)} />
    </Section>
  );
}

function Command({ label, text }: { label: string; text: string }) {
  return (
    <div class="code" dir="ltr">
      <div class="code-head">
        <span>{label}</span>
        <CopyButton text={text} label={`Copy ${label}`} />
      </div>
      <pre tabIndex={0}><code>{text}</code></pre>
    </div>
  );
}

function save(name: string, value: unknown): void {
  const url = URL.createObjectURL(
    new Blob([JSON.stringify(value, null, 2)], { type: "application/json" }),
  );
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}
