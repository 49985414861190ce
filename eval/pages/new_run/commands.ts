/** A text as one word of a shell, whatever it contains. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The body of a request without its batch, which is in a file. */
export interface CommandInput {
  endpoint: string;
  model_id?: string;
  /** Several of them. */
  model_ids?: string[];
  attempts?: number | undefined;
  test_name?: string | undefined;
  pass_threshold?: number | undefined;
  /** Instead of a file. */
  dataset?: string | undefined;
}

/** The same run from the command line, with the batch in `batch.json` unless it is a dataset. */
export function commandLine(
  { endpoint, model_id = "", model_ids = [model_id], attempts, test_name, pass_threshold, dataset }:
    CommandInput,
): string {
  return [
    dataset ? `assay-eval run --dataset ${shellWord(dataset)}` : "assay-eval run batch.json",
    `--endpoint ${shellWord(endpoint)}`,
    ...model_ids.map((id) => `--model ${shellWord(id)}`),
    attempts !== undefined && attempts !== 1 && `--attempts ${attempts}`,
    test_name && `--name ${shellWord(test_name)}`,
    pass_threshold !== undefined && `--threshold ${pass_threshold}`,
  ].filter(Boolean).join(" \\\n  ");
}

/** The same run with curl, with the whole body in `request.json`. */
export function curlCommand(origin: string): string {
  return [
    `curl ${shellWord(`${origin}/evaluate`)}`,
    "-H 'content-type: application/json'",
    "-H 'prefer: respond-async'",
    "-d @request.json",
  ].join(" \\\n  ");
}
