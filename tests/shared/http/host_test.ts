import { assertEquals } from "@std/assert";
import { isLoopback } from "../../../shared/http/router/host.ts";

Deno.test("loopback is what reaches this machine only, in whatever letters", () => {
  for (const name of ["localhost", "LocalHost", "127.0.0.1", "127.255.0.9", "::1", "[::1]"]) {
    assertEquals(isLoopback(name), true, name);
  }
  const others = ["0.0.0.0", "::", "128.0.0.1", "1127.0.0.1", "127.0.0.1.evil.test", "127.1.2.3.4"];
  for (const name of [...others, "localhost.evil.test", "evil.localhost", "", "127.0.0"]) {
    assertEquals(isLoopback(name), false, name);
  }
});
