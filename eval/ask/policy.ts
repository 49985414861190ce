import { AppError } from "../../shared/service/errors.ts";
import type { Resolve } from "../../shared/http/public_fetch.ts";
import { currentRequest } from "../../shared/service/ops/tracing.ts";
import { loadApart } from "../../shared/service/waiting.ts";
import type { EvalConfig } from "../config.ts";

/** Which endpoints may be evaluated, and which credential is sent to them. */
export type EndpointPolicy = ReturnType<typeof createEndpointPolicy>;

type PolicyConfig = Pick<EvalConfig, "EVAL_API_KEY" | "EVAL_CREDENTIALS" | "EVAL_ENDPOINTS">;

/**
 * The caller chooses the endpoint, the operator owns the credential. So a key is sent only where the
 * operator allows it: `EVAL_CREDENTIALS` to their own origins, `EVAL_API_KEY` to origins that
 * `EVAL_ENDPOINTS` lists, also as subdomains, and to any endpoint if the list is empty (a loopback
 * service with one user). `*` allows any endpoint but sends it no key.
 */
export function createEndpointPolicy(config: PolicyConfig, resolve?: Resolve) {
  const { EVAL_API_KEY: sharedKey, EVAL_CREDENTIALS: ownKeys = {} } = config;
  const listed = new Set(config.EVAL_ENDPOINTS);
  const isOpen = listed.size === 0;
  const wildcards = config.EVAL_ENDPOINTS.filter((origin) => origin.includes("*"));
  const patterns = wildcards.map(toPattern);
  const subdomains = wildcards.filter((origin) => origin !== "*").map(toPattern);

  /**
   * True if `EVAL_ENDPOINTS` lists this very origin, or is empty, which is possible only for a
   * service on the loopback address. Any other endpoint is the caller's choice, and is reached at
   * public addresses only.
   */
  const isTrusted = (endpoint: string): boolean => isOpen || listed.has(new URL(endpoint).origin);

  const isNamed = (origin: string) =>
    listed.has(origin) || subdomains.some((pattern) => pattern.test(origin));

  function credentialFor(endpoint: string): string | undefined {
    const { origin } = new URL(endpoint);
    return ownKeys[origin] ?? (isOpen || isNamed(origin) ? sharedKey : undefined);
  }

  return {
    credentialFor,
    /**
     * Throws 403 `endpoint_not_allowed` for an origin that is not listed, and for one that is not
     * named and has a credential, if a page of another origin asks: it must not use the operator's
     * credential.
     */
    requireAllowed(endpoint: string): void {
      const { origin } = new URL(endpoint);
      if (
        currentRequest()?.isForeign && !isNamed(origin) && credentialFor(endpoint) !== undefined
      ) {
        throw new AppError(
          403,
          "endpoint_not_allowed",
          `cannot evaluate ${origin} for a page of another origin: there is a credential for it, ` +
            "and EVAL_ENDPOINTS does not list it",
        );
      }
      if (isTrusted(endpoint) || patterns.some((pattern) => pattern.test(origin))) return;
      throw new AppError(
        403,
        "endpoint_not_allowed",
        `cannot evaluate ${origin}: it is not listed in EVAL_ENDPOINTS`,
      );
    },
    isTrusted,
    /** Throws 403 `endpoint_not_allowed` if an untrusted endpoint has an address that is not public. */
    async requireReachable(endpoint: string): Promise<void> {
      if (isTrusted(endpoint)) return;
      const { requirePublicHost, systemResolve } = await loadApart(() =>
        import("../../shared/http/public_fetch.ts") // most processes have trusted endpoints only
      );
      await requirePublicHost(endpoint, resolve ?? systemResolve);
    },
  };
}

/** `https://*.example.com` is every subdomain of `example.com`, with that scheme and port only. */
function toPattern(origin: string): RegExp {
  if (origin === "*") return /^/;
  const [scheme = "", rest = ""] = origin.split("://*.");
  return new RegExp(`^${scheme}://([a-z0-9_-]+\\.)+${RegExp.escape(rest)}$`);
}
