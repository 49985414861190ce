/** `::ffff:10.0.0.1`, as sockets that speak both families have it, is `10.0.0.1`. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}
