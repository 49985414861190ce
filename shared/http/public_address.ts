import ipaddr from "ipaddr.js";

/**
 * True for an IP address out in the open. Private, loopback, link-local (where clouds keep their
 * metadata), shared, reserved and multicast ranges are not, nor are IPv6 forms that carry an IPv4
 * address inside: where those lead is decided elsewhere.
 */
export function isPublicAddress(address: string): boolean {
  const bare = address.replace(/^\[|\]$/g, "").replace(/%.*$/, "");
  return ipaddr.isValid(bare) && ipaddr.process(bare).range() === "unicast";
}

/** True for the hostname of a URL that is an address already, in brackets or not. */
export function isIpAddress(hostname: string): boolean {
  return ipaddr.isValid(hostname.replace(/^\[|\]$/g, ""));
}
