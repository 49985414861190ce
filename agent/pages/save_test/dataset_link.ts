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
export function datasetForm(address: string): string {
  return `${address}/ui/datasets/add`;
}
