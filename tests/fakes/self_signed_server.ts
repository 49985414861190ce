import { createServer } from "node:https";
import type { AddressInfo } from "node:net";

/** Self-signed, for `localhost`; it protects nothing and is for tests only. */
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgP6GQaG5NUJjznxsE
bcDG8YdLf5x6f6+p8tDJAptkO++hRANCAATsEC3riEy0OiC9ppFAq5eg/VhU483s
YhUEHDHWcf6NFiWAAGeQ+bhcB+QxeCVI8O7GZ8zR4ZRpWOW1XlomPCzN
-----END PRIVATE KEY-----
`;
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBkjCCATigAwIBAgIUK1y3lJMwh5CnTkbSN1o3KkC8r34wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTExNTE1NDE0NVoYDzIxMjYxMDIy
MTU0MTQ1WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAATsEC3riEy0OiC9ppFAq5eg/VhU483sYhUEHDHWcf6NFiWAAGeQ+bhc
B+QxeCVI8O7GZ8zR4ZRpWOW1XlomPCzNo2YwZDAdBgNVHQ4EFgQU/ktsWv4hMK/J
r3VgmsQSDBexEVEwHwYDVR0jBBgwFoAU/ktsWv4hMK/Jr3VgmsQSDBexEVEwFAYD
VR0RBA0wC4IJbG9jYWxob3N0MAwGA1UdEwEB/wQCMAAwCgYIKoZIzj0EAwIDSAAw
RQIgTg7NIJL8qytXtghgWfhpAzBZeHQYVzraS4iuBiRl+58CIQCqpPg8KlVpfPm+
Mh3A3k+pd2l73dG2xFMPNvKjOvrTZA==
-----END CERTIFICATE-----
`;

/** A server with an untrusted certificate; its address has the name of the certificate. */
export async function startSelfSignedServer(): Promise<{ baseUrl: string } & AsyncDisposable> {
  const server = createServer({ key: KEY, cert: CERTIFICATE }, (_, response) => response.end("{}"));
  server.on("tlsClientError", () => {}); // the client hangs up, as it should
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    baseUrl: `https://localhost:${(server.address() as AddressInfo).port}/v1`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
