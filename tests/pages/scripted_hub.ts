import {
  completionChunks,
  errorStatus,
  sse,
  startProviderDouble,
} from "../fakes/provider_double.ts";
import type { ProviderDouble } from "../fakes/provider_double.ts";
import type { ReceivedRequest } from "../fakes/provider_answers.ts";

/** A fine-tuned model that the scripted agent lists. */
export const SUPPORT = { name: "support-v3", id: "3f2b9c1e-5d47-4a8b-9e60-7c1d2f3a4b5c" };

/** A hub of 50 models whose answers are ordered by the message. */
export interface ScriptedHub extends ProviderDouble {
  /** What a model says to a message that is exactly this. */
  answers: Map<string, string>;
  /** Lets the answers to `hold …` go on. */
  release(): void;
}

type Sent = { role: string };

const isSecondUser = (message: Sent, before: Sent | undefined) =>
  message.role === "user" && before?.role === "user";

/**
 * Refuses two messages of the user in a row, as Mistral's templates do. Answers by the last one: `hold …` waits in the middle of the answer, `think …`
 * reasons first, `calculate …` calls the calculator, `fail …` is an error, `break …` is cut off. To
 * anything else it says what `answers` has, or repeats it with the name of the model.
 */
export async function startScriptedHub(
  { models = numberedModels() }: { models?: string[] } = {},
): Promise<ScriptedHub> {
  const answers = new Map<string, string>();
  let held = Promise.withResolvers<void>();
  const failed = new Set<string>();

  function reply(request: ReceivedRequest): Response | Promise<Response> {
    if (request.path.endsWith("/models")) return listModels(models);
    const { messages, model } = request.body;
    const last = messages.at(-1);
    if (
      messages.some((message: Sent, index: number) => isSecondUser(message, messages[index - 1]))
    ) {
      const error = { message: "Conversation roles must alternate user/assistant/user/assistant" };
      return Response.json({ error }, { status: 400 });
    }
    const { content } = messages.findLast(({ role }: { role: string }) => role === "user");
    const said: string = typeof content === "string" ? content : content[0].text;
    const plain = answers.get(said) ?? `${model} was asked: ${said}`;
    const chunks = completionChunks({ content: plain, model });
    const first = (delta: unknown) => ({ ...chunks[1], choices: [{ index: 0, delta }] });
    if (/^fail[^\n]*$/.test(said)) {
      // Fails once: what is sent again is answered, and so is what is joined with it.
      if (!failed.has(said)) {
        failed.add(said);
        return errorStatus(500)(request);
      }
    }
    if (said.startsWith("break")) {
      return sse([first({ content: "The first half" })], { end: "cut" })(request);
    }
    if (said.startsWith("think")) {
      const thought = first({ reasoning_content: "Let me **think** about it." });
      return sse([chunks[0], thought, ...chunks.slice(1)])(request);
    }
    if (said.startsWith("calculate") && last.role !== "tool") {
      const expression = said.slice("calculate ".length);
      const call = { name: "calculator", arguments: JSON.stringify({ expression }) };
      return sse(completionChunks({ toolCalls: [call], model }))(request);
    }
    if (said.startsWith("hold")) return holdBack([first({ content: "The beginning. " })], chunks);
    return sse(chunks)(request);
  }

  function holdBack(before: unknown[], after: unknown[]): Response {
    const encode = (chunk: unknown) =>
      new TextEncoder().encode(
        `data: ${typeof chunk === "string" ? chunk : JSON.stringify(chunk)}\n\n`,
      );
    async function* body(): AsyncGenerator<Uint8Array> {
      for (const chunk of before) yield encode(chunk);
      await held.promise;
      for (const chunk of after) yield encode(chunk);
      yield encode("[DONE]");
    }
    return new Response(ReadableStream.from(body()), {
      headers: { "content-type": "text/event-stream" },
    });
  }

  const double = await startProviderDouble(reply);
  return Object.assign(double, {
    answers,
    release() {
      held.resolve();
      held = Promise.withResolvers();
    },
  });
}

function numberedModels(): string[] {
  return Array.from(
    { length: 50 },
    (_, index) => `acme/model-${String(index + 1).padStart(2, "0")}`,
  );
}

function listModels(models: string[]): Response {
  return Response.json({ data: models.map((id) => ({ id, object: "model" })) });
}

/** The environment of an agent that asks the hub. */
export function agentEnvironment(hub: ScriptedHub): Record<string, string> {
  return {
    HUB_BASE_URL: hub.baseUrl,
    STUDIO_BASE_URL: hub.baseUrl,
    STUDIO_MODELS: JSON.stringify({ [SUPPORT.name]: SUPPORT.id }),
    MODEL_RETRIES: "0",
  };
}
