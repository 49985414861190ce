import { AppError, type AppErrorOptions, type ErrorCode } from "../service/errors.ts";
import { validate } from "@std/uuid/common";

/** How text is marked if its bytes were not UTF-8, and some of them were replaced by U+FFFD. */
export const NOT_UTF8 = "not utf-8";

export interface DecodedAnswer {
  value: unknown;
  /** Set if some of the text was replaced. */
  encoding?: typeof NOT_UTF8;
}

/** Fields of the provider's protocol that this program does not read, as they came. */
export type ExtraFields = Record<string, unknown>;

/**
 * One part of a message's content as OpenAI spells it: `text`, `image_url`, `input_audio`, `file`,
 * or a type of one provider, such as Mistral's `thinking`. It is passed on as it came.
 */
export interface ContentPart extends ExtraFields {
  type: string;
}

/** Text, or parts if it is more than plain text. `textOf` reads the text of both. */
export type ChatContent = string | ContentPart[];

/**
 * A message for any OpenAI-compatible model, without vendor-specific names.
 *
 * `extra` are further fields of the message, sent as they are: a user's `name`, a model's
 * `reasoning_content`. What a model sent is of use to its own provider only, and others may refuse
 * it. So an assistant's message names the model that sent it in `from`: if that is another
 * provider's than the model that is asked (`isSameProvider`), its `extra`, the `extra` of its calls
 * and the parts of its content that are not text are left out. Without `from` they are sent.
 */
export type ChatMessage =
  | { role: "system" | "user"; content: ChatContent; extra?: ExtraFields }
  | {
    role: "assistant";
    content: ChatContent;
    toolCalls?: ToolCall[];
    extra?: ExtraFields;
    from?: string;
  }
  | {
    role: "tool";
    content: ChatContent;
    toolCallId: string;
    extra?: ExtraFields;
    /**
     * Images of the result. Providers take only text in it, so they are sent in a user's message
     * after the results. `content` names them too, for models that take no images.
     */
    images?: ContentPart[];
  };

/** `arguments` is the model's own text: it should be a JSON object, and often is not. */
export interface ToolCall {
  id: string;
  name: string;
  arguments: string;
  /** As in a message: Gemini's `extra_content`. Unknown fields of `function` are in `function`. */
  extra?: ExtraFields;
}

/** How many tools every provider accepts in one request. */
export const MAX_OFFERED_TOOLS = 128;

/** A tool as the model sees it. `parameters` is a JSON Schema of type `object`. */
export interface ToolDefinition {
  name: string;
  /** Never blank: Bedrock refuses that. */
  description?: string;
  parameters: Record<string, unknown>;
}

export interface ChatRequest {
  model: string;
  messages: ChatMessage[];
  tools?: ToolDefinition[];
  /** The tools are optional: a model that refuses a request because of them is asked without. */
  mayOmitTools?: true;
  /** Images of tool results are the caller's: they are never left out. */
  keepsImages?: true;
  /** The provider decides if it is unset; the same for the settings below. */
  temperature?: number;
  maxTokens?: number;
  seed?: number;
  /** Further fields of the provider's request, as OpenAI spells them; the ones above win. */
  extra?: Record<string, unknown>;
  /** The messages in the order that every provider takes, for a model that refuses another. */
  asStrict?: (messages: ChatMessage[]) => ChatMessage[];
  /** Called with what was changed in the messages because the model refused them. */
  onRepair?: (repairs: Record<string, number>) => void;
  /** Unless it is set, a stream is asked to end with the counts of tokens. */
  omitsUsage?: true;
}

export interface CallOptions {
  /** Ends the call, and the request to the provider with it. */
  signal?: AbortSignal | undefined;
  /** A call whose provider asks for a longer wait fails at once. */
  maxWaitMs?: number;
  /** The limit of this call, if it is shorter than the provider's own. */
  timeoutMs?: number;
}

/** Token counts as the provider sent them; a detail object holds only what it sent. */
export interface ChatUsage {
  promptTokens: number;
  completionTokens: number;
  totalTokens: number;
  promptDetails: Record<string, number> | null;
  completionDetails: Record<string, number> | null;
  /** Further fields as they came: `cost`, counts of caches. */
  extra?: ExtraFields;
}

/** One answer of a model. What the provider left out is `null`. */
export interface ChatReply {
  id: string | null;
  model: string;
  content: string | null;
  refusal: string | null;
  toolCalls: ToolCall[];
  finishReason: string | null;
  usage: ChatUsage | null;
  systemFingerprint: string | null;
  serviceTier: string | null;
  logprobs: Record<string, unknown> | null;
  /** Fields of the message that are not read here: `reasoning_content`, `extra_content`. */
  extra?: ExtraFields;
  /** The same of the answer around it: `citations`, `prompt_filter_results`. */
  answerExtra?: ExtraFields;
  /** The same of its choice: `content_filter_results`. */
  choiceExtra?: ExtraFields;
  /** The content as it came, if it came as parts that are more than plain text. */
  parts?: ContentPart[];
  /** The model that was asked. Set if the reply or one of its calls has such fields or parts. */
  from?: string;
  /** Set if the provider's bytes were not UTF-8: some of the text was replaced by U+FFFD. */
  encoding?: typeof NOT_UTF8;
}

/**
 * A stream is any number of pieces and, last, the whole `reply`. A `call` is a piece of the tool
 * call at `index`: its id and name come with its first piece, its arguments bit by bit, and further
 * fields (`extra`) with any of them.
 */
export type ChatDelta =
  | { type: "text"; text: string; logprobs?: Record<string, unknown> }
  | { type: "reasoning"; text: string }
  | CallPiece
  | { type: "reply"; reply: ChatReply };

/** A piece of a tool call. */
export interface CallPiece {
  type: "call";
  index: number;
  id?: string;
  name?: string;
  arguments: string;
  extra?: ExtraFields;
}

/** One vendor. Translates shapes and errors; decides nothing. Throws `ProviderError`. */
export interface ChatProvider {
  readonly name: string;
  /** Of its server, for traces. */
  readonly address?: string | undefined;
  complete(request: ChatRequest, options?: CallOptions): Promise<ChatReply>;
  stream(request: ChatRequest, options?: CallOptions): AsyncIterable<ChatDelta>;
}

/** A model as a provider lists it; `name` is for people, `id` goes into `model`. */
export interface ListedModel {
  id: string;
  name: string;
  /** When it will no longer answer, as its provider says it. */
  shutdownDate?: string;
}

/** A provider that can say which models it has. */
export interface ModelLister {
  listModels(options?: CallOptions): Promise<ListedModel[]>;
}

/** Why no connection could be made. */
export type Unreachable =
  | "refused"
  | "dns"
  | "not_public"
  | "route"
  | "tls"
  /** What is wrong with a TLS certificate. */
  | "untrusted"
  | "expired"
  | "other_name";

/** Why a provider's call failed. The HTTP status for our own caller is separate. */
export type ProviderFailure =
  | { kind: "status"; status: number }
  /** No connection could be made. */
  | { kind: "unreachable"; why?: Unreachable }
  /** The connection broke before the answer was whole. */
  | { kind: "interrupted"; why?: "reset" }
  | { kind: "timeout" }
  /** `shape` says in words what is too deep or too wide. */
  | { kind: "unreadable"; why?: "too_large"; shape?: string };

/** A failure of a provider. Its message may contain the provider's words, but never a key. */
export class ProviderError extends AppError {
  override readonly name = "ProviderError";

  constructor(
    status: number,
    code: ErrorCode,
    message: string,
    readonly failure: ProviderFailure,
    options: AppErrorOptions = {},
  ) {
    super(status, code, message, options);
  }
}

/** UUID-shaped, whatever the version and variant bits say: v8, and what older tools issue. */
const UUID_SHAPE = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * The providers of the agent, in the order in which a model id is offered to them. A provider is
 * configured by `<NAME>_BASE_URL` and `<NAME>_API_KEY`.
 */
export const PROVIDERS = {
  studio: {
    takes: (id: string) => validate(id) || UUID_SHAPE.test(id),
    /** What it is asked for, and why a model id leads to it. */
    asked: "a fine-tuned model",
    why: "it is a UUID: a fine-tuned model, asked at the studio",
  },
  hub: {
    takes: (id: string) => /^[^/]+\/[^]/.test(id),
    asked: "a hub model",
    why: "it has the form <provider>/<model>: asked at the hub, unchanged",
  },
};

export type ProviderName = keyof typeof PROVIDERS;

export const PROVIDER_NAMES = Object.keys(PROVIDERS) as ProviderName[];

/** The settings of a provider, by its name. */
export function settingsOf<Name extends ProviderName>(name: Name) {
  const prefix = name.toUpperCase() as Uppercase<Name>;
  return { address: `${prefix}_BASE_URL`, key: `${prefix}_API_KEY` } as const;
}

/** The provider for an `x-model-id`, `null` if none takes it. `model` is the name that it gets. */
export interface RoutedModel {
  target: ProviderName | null;
  model: string;
}

/** Routes a model id; surrounding blanks do not count, letter case is kept. */
export function routeModel(modelId: string): RoutedModel {
  const model = modelId.trim();
  return { target: PROVIDER_NAMES.find((name) => PROVIDERS[name].takes(model)) ?? null, model };
}
