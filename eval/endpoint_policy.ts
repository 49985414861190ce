import { AppError } from "../shared/errors.ts";
import type { EvalConfig } from "./config.ts";

/** Which endpoints may be evaluated, and which credential goes where. */
export interface EndpointPolicy {
  /** Throws 403 `endpoint_not_allowed` for an origin that is not listed. */
  requireAllowed(endpoint: string): void;
  credentialFor(endpoint: string): string | undefined;
}

type PolicyConfig = Pick<EvalConfig, "EVAL_API_KEY" | "EVAL_CREDENTIALS" | "EVAL_ENDPOINTS">;

/**
 * The endpoint comes from the caller and the credential from us, so a key goes only where the
 * operator sent it: to its own origin, to the origins listed by name, and, where none are listed,
 * to what the one user of a loopback service names. `*` allows any endpoint but sends it no key.
 */
export function createEndpointPolicy(config: PolicyConfig): EndpointPolicy {
  const { EVAL_API_KEY: sharedKey, EVAL_CREDENTIALS: ownKeys = {} } = config;
  const listed = new Set(config.EVAL_ENDPOINTS);
  const isOpen = listed.size === 0;

  return {
    requireAllowed(endpoint) {
      const { origin } = new URL(endpoint);
      if (isOpen || listed.has("*") || listed.has(origin)) return;
      throw new AppError(
        403,
        "endpoint_not_allowed",
        `cannot evaluate ${origin}: it is not listed in EVAL_ENDPOINTS`,
      );
    },
    credentialFor(endpoint) {
      const { origin } = new URL(endpoint);
      return ownKeys[origin] ?? (isOpen || listed.has(origin) ? sharedKey : undefined);
    },
  };
}
