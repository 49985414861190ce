import type { z } from "zod";
import type { ProblemDocument } from "../service/ops/api_description.ts";

/** What is known of a problem. */
type ProblemFacts =
  & Pick<ApiProblem, "code" | "status">
  & Partial<Pick<ApiProblem, "requestId" | "retryAfter">>
  & { errors?: ApiProblem["errors"] | undefined };

/** An error of the API, or the failure to reach it. */
export class ApiProblem extends Error {
  override readonly name = "ApiProblem";
  /** The code of the API, or `offline` if no answer came. */
  readonly code: string;
  /** 0 if no answer came. */
  readonly status: number;
  readonly requestId: string | undefined;
  /** What is wrong at which field of the body. */
  readonly errors: { path: string; message: string }[];
  /** When the same may be sent again, in seconds from the answer; `undefined` if it did not say. */
  readonly retryAfter: number | undefined;

  constructor(
    message: string,
    { code, status, requestId, errors = [], retryAfter }: ProblemFacts,
  ) {
    super(message);
    this.code = code;
    this.status = status;
    this.requestId = requestId;
    this.errors = errors;
    this.retryAfter = retryAfter;
  }
}

/** The body of an error: a problem document, or OpenAI's format below `/v1/`. */
type ErrorBody =
  | z.infer<typeof ProblemDocument>
  | { error: { message: string; code: string | null } };

/** Any body of an error as a problem; also one that a proxy made up. */
export function toApiProblem(
  body: unknown,
  facts: Omit<ProblemFacts, "code" | "errors">,
): ApiProblem {
  if (!isErrorBody(body)) {
    const message = `the service answered with status ${facts.status}`;
    return new ApiProblem(message, { ...facts, code: "error" });
  }
  if ("error" in body) {
    const { message, code } = body.error;
    return new ApiProblem(message, { ...facts, code: code ?? "error" });
  }
  const { detail, code, request_id, errors } = body;
  return new ApiProblem(detail, { ...facts, code, requestId: request_id, errors });
}

/** No answer came, or only a part of it. */
export function offlineProblem(message: string, cause: unknown): ApiProblem {
  return Object.assign(new ApiProblem(message, { code: "offline", status: 0 }), { cause });
}

function isErrorBody(body: unknown): body is ErrorBody {
  if (typeof body !== "object" || body === null) return false;
  if ("detail" in body && "code" in body) return true;
  return "error" in body && typeof body.error === "object" && body.error !== null &&
    "message" in body.error;
}

/** What a person can do about a problem; empty if the message says it all. */
export function remedyOf({ code, status, requestId }: ApiProblem): string {
  if (code === "offline") return "Check that the service is running and that you are online.";
  if (status === 429 || code === "overloaded") return "Wait a moment, then try again.";
  if (code === "model_not_found") return "Choose another model.";
  if (code === "provider_auth") return "Ask the operator to check the provider's key.";
  if (status >= 500 && requestId) {
    return "Try again. If it fails again, tell the operator the request id.";
  }
  return "";
}
