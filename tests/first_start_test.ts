import { assertEquals, assertStringIncludes } from "@std/assert";
import { execFileSync } from "node:child_process";
import https from "node:https";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

/** A certificate authority of a company, and a certificate for `localhost` that it signed. */
function signCertificate(folder: string): { key: string; cert: string; authority: string } {
  const script = `cd ${folder} &&
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=Company CA" \
      -addext basicConstraints=critical,CA:TRUE -keyout ca.key -out ca.pem &&
    openssl req -newkey rsa:2048 -nodes -subj "/CN=localhost" -keyout key.pem -out request.pem &&
    printf subjectAltName=DNS:localhost > names &&
    openssl x509 -req -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 \
      -extfile names -out cert.pem`;
  execFileSync("sh", ["-c", script], { stdio: "ignore" });
  const read = (name: string) => Deno.readTextFileSync(`${folder}/${name}`);
  return { key: read("key.pem"), cert: read("cert.pem"), authority: `${folder}/ca.pem` };
}

/** What Deno prints when it downloads a module with these variables. */
async function download(url: string, variables: Record<string, string>): Promise<string> {
  const folder = await Deno.makeTempDir();
  try {
    const kept = ["PATH", "HOME"].map((name) => [name, Deno.env.get(name) ?? ""]);
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-config", "--no-lock", "--allow-import", url],
      clearEnv: true,
      env: { ...Object.fromEntries(kept), DENO_DIR: folder, NO_COLOR: "1", ...variables },
    }).output();
    return new TextDecoder().decode(stderr) + new TextDecoder().decode(stdout);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("behind a proxy's own certificate, the variables that the README names let Deno download", async () => {
  const folder = await Deno.makeTempDir();
  const { key, cert, authority } = signCertificate(folder);
  const server = https.createServer({ key, cert }, (_request, response) => {
    response.setHeader("content-type", "text/javascript").end("console.log('downloaded');");
  });
  try {
    await once(server.listen(0, "127.0.0.1"), "listening");
    const url = `https://localhost:${(server.address() as AddressInfo).port}/main.js`;
    assertStringIncludes(await download(url, {}), "UnknownIssuer");
    // The file of the system's certificates, as a company's machine has it.
    const system = { DENO_TLS_CA_STORE: "system", SSL_CERT_FILE: authority };
    for (const variables of [system, { DENO_CERT: authority }]) {
      const lines = (await download(url, variables)).trim().split("\n");
      assertEquals(lines.at(-1), "downloaded", Object.keys(variables).join());
    }
  } finally {
    server.close();
    await Deno.remove(folder, { recursive: true });
  }
});
