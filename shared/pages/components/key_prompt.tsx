import { useState } from "preact/hooks";
import { canBeSent, giveKey, keyRequest } from "../key.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Field } from "./field.tsx";

/** Asks for the key whenever a request needs one. */
export function KeyPrompt() {
  const asked = keyRequest.value;
  const [key, setKey] = useState("");
  if (!asked) return null;
  return (
    <Dialog title="This service needs a key">
      <form
        class="dialog-body-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (key.trim() && canBeSent(key)) giveKey(key);
        }}
      >
        <Field
          label="API key"
          hint="It is kept until you close this tab, and sent to this service only."
          error={!canBeSent(key)
            ? "It has a character that no key has, perhaps an invisible one. Type or copy it again."
            : asked.isRefused
            ? "The service did not accept this key."
            : undefined}
        >
          {(input) => (
            <input
              {...input}
              type="password"
              autocomplete="off"
              autofocus
              value={key}
              onInput={(event) => setKey(event.currentTarget.value)}
            />
          )}
        </Field>
        <div class="dialog-actions">
          <Button kind="primary" type="submit" disabled={!key.trim() || !canBeSent(key)}>
            Continue
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
