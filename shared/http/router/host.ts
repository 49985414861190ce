import { AppError } from "../../errors.ts";
import type { Guard } from "./router.ts";

/** True for the names and addresses by which only this machine can be reached. */
export function isLoopback(hostname: string): boolean {
  const name = hostname.replace(/^\[|\]$/g, "").toLowerCase();
  return name === "localhost" || name === "::1" || /^127(\.\d{1,3}){3}$/.test(name);
}

/**
 * Against DNS rebinding: a page whose name was pointed at 127.0.0.1 reaches a loopback service, but
 * its requests still carry the page's own name in `Host`.
 */
export const requireLoopbackHost: Guard = (_request, context) => {
  if (isLoopback(context.url.hostname)) return;
  throw new AppError(
    403,
    "forbidden_host",
    "the Host header is not a loopback name: this service listens on loopback only",
  );
};
