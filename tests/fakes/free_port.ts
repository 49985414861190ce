/** A port that nobody uses at the moment, for programs that cannot choose one themselves. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return (listener.addr as Deno.NetAddr).port;
}
