import { addressOf } from "../../../shared/pages/service_address.ts";
import { listModels, startRun } from "../api.ts";

const ENDPOINT = addressOf("assay-agent");
/** The two models of the embedded demo; see `agent/core/models/demo_names.ts`. */
const DEMO = ["demo/assistant", "a55a9000-de30-4f1e-8a7e-000000000001"];

const CONVERSATIONS: [id: string, message: string, reference: string][] = [
  ["greeting", "Hello!", "Hello! How can I help you today?"],
  [
    "refund",
    "I would like a refund for my lamp.",
    "Please send your order number; a refund takes 5 to 7 working days.",
  ],
  [
    "password",
    "I forgot my password and cannot log in.",
    "Please use “Forgot password” on the sign-in page; the link is valid for an hour.",
  ],
  [
    "parcel",
    "Where is my parcel?",
    "Please send your order number, and I will check where it is.",
  ],
  ["help", "Can you help me?", "Of course. Please describe the problem in a sentence."],
  ["small talk", "How are you?", "Fine, thank you. How can I help you today?"],
  ["thanks", "Thanks a lot!", "You are welcome!"],
  ["goodbye", "Goodbye!", "Goodbye! Come back any time."],
];

/** Compares two models of assay-agent on a few conversations; the address of the view. */
export async function startExample(): Promise<string> {
  const listed = await listModels(ENDPOINT);
  const demo = listed.filter(({ id }) => DEMO.includes(id));
  const models = demo.length === DEMO.length ? demo : listed.slice(0, 2);
  const targets = models.map(({ id, name = id }) => ({ endpoint: ENDPOINT, model_id: id, name }));
  return await startRun({
    test_name: "example",
    ...(targets.length > 1
      ? { targets }
      : { endpoint: ENDPOINT, model_id: models[0]?.id ?? DEMO[0] }),
    attempts: 2,
    test_batch: CONVERSATIONS.map(([id, user_message, reference_reply]) => ({
      id,
      interactions: [{ id: "1", user_message, reference_reply }],
    })),
  });
}
