import { useState } from "preact/hooks";
import { Button } from "../../../shared/pages/components/button.tsx";
import { Field } from "../../../shared/pages/components/field.tsx";
import { Icon } from "../../../shared/pages/components/icon.tsx";
import { addressOf } from "../../../shared/pages/service_address.ts";
import { keepChoice, readChoice } from "../../../shared/pages/storage.ts";
import { type DraftTest, toScenario } from "./test_scenario.ts";

const USUAL = addressOf("assay-eval");

function usualAddress(): string {
  return ["127.0.0.1", "localhost"].includes(globalThis.location.hostname) ? USUAL : "";
}

/**
 * Hands a test over to a dashboard, whose address is asked for once. Without a test there is
 * nothing to hand over.
 */
export function AddToDataset({ test, onHandedOver }: {
  test: DraftTest | undefined;
  onHandedOver: () => void;
}) {
  const [typed, setTyped] = useState(() => readChoice<string>("eval-address") ?? usualAddress());
  const address = parseEvalAddress(typed);
  const link = test && address ? datasetLink(address, toScenario(test)) : undefined;
  const isTooLong = test && address && !link;
  return (
    <div class="card">
      <Field
        label="Dashboard of assay-eval"
        hint="It opens with this scenario, and you choose the dataset there."
        error={typed.trim() && !address
          ? `Enter an address such as ${USUAL}.`
          : isTooLong
          ? `This scenario is too long for a link: save it as a file, and open that at ${
            datasetForm(address)
          }.`
          : undefined}
      >
        {(input) => (
          <div class="input-row">
            <input
              {...input}
              inputMode="url"
              autocomplete="url"
              spellcheck={false}
              placeholder={USUAL}
              value={typed}
              onInput={(event) => setTyped(event.currentTarget.value)}
            />
            {link
              ? (
                <a
                  class="button"
                  href={link}
                  target="_blank"
                  rel="noopener"
                  onClick={() => {
                    keepChoice("eval-address", address);
                    onHandedOver();
                  }}
                >
                  <Icon name="test" />
                  Add to a dataset
                </a>
              )
              : <Button icon="test" disabled>Add to a dataset</Button>}
          </div>
        )}
      </Field>
    </div>
  );
}

/** Browsers cut or refuse longer addresses. */
const MAX_FRAGMENT = 1_500_000;

/**
 * The origin of an assay-eval from what a person types: with or without `http://`, and with any path
 * of its dashboard. `undefined` if it is no address of the web.
 */
export function parseEvalAddress(text: string): string | undefined {
  const typed = text.trim();
  if (/\s/.test(typed)) return undefined; // some browsers take it for a name
  const url = URL.parse(/^[\w.+-]+:\/\//.test(typed) ? typed : `http://${typed}`);
  return url && /^https?:$/.test(url.protocol) ? url.origin : undefined;
}

/**
 * A link that opens the dashboard with a scenario, to be reviewed and added to a dataset there. This
 * page may ask no other service, so the scenario travels in the fragment, which no server sees.
 * `undefined` if it is too long for a link.
 */
export function datasetLink(address: string, scenario: object): string | undefined {
  const fragment = `scenario=${encodeURIComponent(JSON.stringify(scenario))}`;
  return fragment.length > MAX_FRAGMENT ? undefined : `${datasetForm(address)}#${fragment}`;
}

/** Where the dashboard adds a scenario to a dataset; also one of a file. */
function datasetForm(address: string): string {
  return `${address}/ui/datasets/add`;
}
