import { asFields, asList, isFields } from "../../../shared/service/fields.ts";
import { type DatasetFormat, ImportError } from "./format.ts";
import { parseWhole, readWhole } from "./lines.ts";
import { REQUEST_FAILED } from "../scenario.ts";
import { readReply } from "./replies.ts";
import { openaiEvals } from "./samples.ts";

/** A log of Inspect as JSON, whose samples have what the model answered, per epoch. */
export const inspect: DatasetFormat = {
  name: "inspect",
  about: "a log of Inspect as JSON",
  isWhole: true,
  recognises: ({ start }) => /^\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:/.test(start),
  async *read(pieces, context) {
    const { samples } = asFields(parseWhole(await readWhole(pieces)));
    if (!Array.isArray(samples)) {
      throw new ImportError(1, 'it has no samples; write it with "inspect log dump"');
    }
    const records = samples.filter(isFields).map(({ id, epoch, input, target, output, error }) => ({
      id,
      input,
      ideal: asList(target).length === 1 ? asList(target)[0] : target,
      ...(context.hasReplies && {
        epoch,
        agent_reply: (error ? undefined : readReply(output)) || REQUEST_FAILED,
      }),
    }));
    yield* openaiEvals.read(ReadableStream.from([JSON.stringify(records)]), context);
  },
};
