import type { ListedModel } from "../../../shared/providers/provider.ts";

/** The id of the embedded model, for `x-model-id`. */
export const DEMO_MODEL = "demo/assistant";

/** The embedded fine-tuned model: the same program with the short answers of a support desk. */
export const DEMO_STUDIO: ListedModel = {
  name: "demo-fine-tuned",
  id: "a55a9000-de30-4f1e-8a7e-000000000001",
};
