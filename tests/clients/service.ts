import { completion, type ReceivedRequest } from "../fakes/provider_answers.ts";
import {
  completionChunks,
  type ProviderDouble,
  sse,
  startProviderDouble,
} from "../fakes/provider_double.ts";
import { startServiceProcess } from "../fakes/service_process.ts";

/** The question that the scripted model answers with the agent's calculator. */
export const QUESTION = "What is 17 * 23?";
export const ANSWER = "It is 391.";

/** The question that it answers with a tool of the caller, if the caller offers `get_weather`. */
export const WEATHER_QUESTION = "How is the weather in Oslo?";
export const WEATHER = "sunny, 21 degrees";
export const WEATHER_ANSWER = `In Oslo it is ${WEATHER}.`;

/** The question that it answers with a tool `read` of the caller, which reads files. */
export const FILE_QUESTION = "What does note.txt say?";

/** The question that it answers with JSON, without a tool. */
export const PERSON_QUESTION = "Who wrote the first program?";
export const PERSON = { name: "Ada", born: 1815 };

export const MODEL = "acme/m-1";

/** Tokens of the two model calls that an answer takes. */
export const TOKENS = 24;

/** Answers as a model would: it calls the tool that a question needs, then answers with its result. */
function answer(request: ReceivedRequest): Response | Promise<Response> {
  if (request.path === "/v1/models") {
    return Response.json({ data: [{ id: MODEL }, { id: "no-slash" }] });
  }
  const fields = reply(request.body);
  return request.body.stream ? sse(completionChunks(fields))(request) : completion(fields)(request);
}

interface ChatBody {
  messages: { role: string; content: unknown }[];
}

interface Turn {
  question: string;
  /** The call that the answer needs, if any. */
  call?: { name: string; arguments: string };
  /** The answer, from the result of the call. */
  toAnswer(result: string): string;
}

const SCRIPT: Turn[] = [
  {
    question: WEATHER_QUESTION,
    call: { name: "get_weather", arguments: '{"city":"Oslo"}' },
    toAnswer: (result: string) => `In Oslo it is ${result}.`,
  },
  {
    question: FILE_QUESTION,
    call: { name: "read", arguments: '{"filePath":"note.txt"}' },
    toAnswer: (result: string) => `It says: ${result}`,
  },
  {
    question: QUESTION,
    call: { name: "calculator", arguments: '{"expression":"17*23"}' },
    toAnswer: (result: string) => `It is ${result}.`,
  },
  { question: PERSON_QUESTION, toAnswer: () => JSON.stringify(PERSON) },
];

function reply({ messages }: ChatBody) {
  const texts = messages.map(({ content }) => textOf(content));
  const turn = SCRIPT.find(({ question }) => texts.some((text) => text.includes(question)));
  if (!turn) throw new Error(`no answer to ${texts.at(-1)}`);
  const { call, toAnswer } = turn;
  const isAnswered = !call || messages.at(-1)!.role === "tool";
  if (isAnswered) return { content: toAnswer(texts.at(-1)!) };
  // As Gemini sends it: clients check each chunk of a call.
  const extra = { extra_content: { google: { thought_signature: "c2lnbmVk" } } };
  return { toolCalls: [{ ...call, extra }] };
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map(({ text }) => text ?? "").join("") : "";
}

export interface ClientService extends AsyncDisposable {
  readonly hub: ProviderDouble;
  /** What an OpenAI client is configured with. */
  readonly baseURL: string;
}

/** The real service in front of the scripted model. */
export async function startClientService(): Promise<ClientService> {
  const hub = await startProviderDouble(answer);
  const environment = { HUB_BASE_URL: hub.baseUrl, HUB_BARE_MODELS: "off" };
  const agent = await startServiceProcess("agent", { environment });
  return {
    hub,
    baseURL: `${agent.url}/v1`,
    async [Symbol.asyncDispose]() {
      await agent[Symbol.asyncDispose]();
      await hub[Symbol.asyncDispose]();
    },
  };
}
