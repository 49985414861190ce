import ipaddr from "ipaddr.js";

/** The only part of IPv6 that is given out as global unicast (RFC 4291, 2.4). */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

/** Where Azure gives a machine its settings and certificates; the address looks public, but is not. */
const AZURE_PLATFORM = "168.63.129.16";

/**
 * True for an IP address of the public internet. Private, loopback, link-local (where clouds keep their
 * metadata), shared, reserved and multicast ranges are not. Nor are IPv6 forms that carry an IPv4
 * address (IPv4-compatible, translated, NAT64, 6to4, Teredo), because a gateway decides where these
 * lead; only IPv4-mapped addresses count as the IPv4 address inside.
 */
export function isPublicAddress(address: string): boolean {
  const bare = canonical(address.replace(/^\[|\]$/g, "").replace(/%.*$/, ""));
  if (bare === undefined || !ipaddr.isValid(bare)) return false;
  const parsed = ipaddr.process(bare);
  if (parsed.range() !== "unicast" || parsed.toString() === AZURE_PLATFORM) return false;
  return parsed.kind() === "ipv4" || (parsed as ipaddr.IPv6).match(GLOBAL_UNICAST);
}

/** In hexadecimal: the library treats `::10.0.0.1` as an IPv4-mapped address, which it is not. */
function canonical(address: string): string | undefined {
  if (!address.includes(":")) return address;
  return URL.parse(`http://[${address}]/`)?.hostname.slice(1, -1);
}

/** True for the hostname of a URL that is an address already, in brackets or not. */
export function isIpAddress(hostname: string): boolean {
  return ipaddr.isValid(hostname.replace(/^\[|\]$/g, ""));
}
