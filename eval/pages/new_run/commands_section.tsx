import { Button } from "../../../shared/pages/components/button.tsx";
import { CopyButton } from "../../../shared/pages/components/copy_button.tsx";
import { saveFile } from "../../../shared/pages/save_file.ts";
import { Section } from "../frame.tsx";
import { commandLine, curlCommand, withoutOption } from "./commands.ts";
import { hasConversations, requestBody } from "./draft.ts";

/** The same run without this page. */
export function Commands() {
  if (!hasConversations.value) return null;
  const body = requestBody.value;
  const line = commandLine(body);
  return (
    <Section
      title="The same from a shell"
      actions={
        <span class="row">
          <Button isSmall icon="download" onClick={() => save("request.json", body)}>
            request.json
          </Button>
          {body.test_batch && (
            <Button
              isSmall
              icon="download"
              onClick={() => save("batch.json", body.test_batch)}
            >
              batch.json
            </Button>
          )}
        </span>
      }
    >
      <Command label="curl" text={curlCommand(globalThis.location.origin)} />
      {line ? <Command label="command line" text={line} /> : (
        <p class="muted small">
          For a dataset the command line has no option for{" "}
          <code>{withoutOption(body).join(", ")}</code>.
        </p>
      )}
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
  saveFile(name, JSON.stringify(value, null, 2), "application/json");
}
