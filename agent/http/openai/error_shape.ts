import { AppError } from "../../../shared/service/errors.ts";
import { problemResponse, toProblem } from "../../../shared/http/answer.ts";
import type { RequestContext } from "../../../shared/http/router.ts";
import type { OpenAIError } from "../schemas/chat_completion.ts";

/**
 * Any error in OpenAI's format. Only the message of an `AppError` is shown. A provider's refusal has
 * the provider's own fields: clients act on codes such as `context_length_exceeded`.
 */
export function toOpenAIError(error: unknown, requestId: string): OpenAIError {
  const { status, detail, code, errors, provider } = toProblem(error, requestId);
  if (code === "provider_refused" && provider) {
    return {
      error: {
        ...provider,
        message: provider.message || detail,
        type: provider.type ?? typeOf(status),
        code: provider.code ?? code,
      },
    };
  }
  const isSpent = code === "rate_limited" && provider?.code === NO_QUOTA;
  return {
    error: {
      message: detail,
      type: isSpent ? NO_QUOTA : typeOf(status),
      code: isSpent ? NO_QUOTA : code,
      param: paramOf(errors?.[0]?.path, code),
    },
  };
}

/** OpenAI's code of a 429 that waiting does not resolve. LangChain and others do not retry it. */
const NO_QUOTA = "insufficient_quota";

/** OpenAI's format below `/v1/`, a problem document elsewhere. */
export function errorResponse(error: unknown, { url, requestId }: RequestContext): Response {
  if (!url.pathname.startsWith("/v1/")) return problemResponse(error, requestId);
  return Response.json(toOpenAIError(error, requestId), {
    status: toProblem(error, requestId).status,
    headers: error instanceof AppError ? error.headers : {},
  });
}

function typeOf(status: number): string {
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 429) return "rate_limit_error";
  return status < 500 ? "invalid_request_error" : "server_error";
}

function paramOf(path: string | undefined, code: string): string | null {
  if (path) return path;
  return ["missing_model_id", "invalid_model_id", "model_not_found"].includes(code)
    ? "model"
    : null;
}
