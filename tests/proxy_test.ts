import { assert, assertStringIncludes } from "@std/assert";
import { connectRaw } from "./fakes/raw_client.ts";
import { startServiceProcess } from "./fakes/service_process.ts";
import { ROOT } from "./fakes/source_files.ts";
import { until } from "./fakes/until.ts";

const NGINX = "/usr/sbin/nginx";
const isHere = await Deno.stat(NGINX).then(() => true, () => false);

const HALF_HEADS = 2000;
const SLOW_BODIES = 200;

/** The example's server without TLS, on a port of each loopback address: ::1 is the attacker's. */
async function startNginx(service: string) {
  const folder = await Deno.makeTempDir();
  const probe = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = probe.addr;
  probe.close();
  const example = await Deno.readTextFile(new URL("docs/examples/nginx.conf", ROOT));
  const server = example
    .replace(/listen 443 ssl http2;.*/, `listen 127.0.0.1:${port};\n  listen [::1]:${port};`)
    .replaceAll(/^\s*ssl_.*$/gm, "")
    .replace("http://127.0.0.1:8000", service);
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${folder}/${name};`).join("\n");
  await Deno.writeTextFile(
    `${folder}/nginx.conf`,
    `${Deno.uid() === 0 ? "user root;" : ""}
    daemon off; pid ${folder}/pid; error_log ${folder}/error.log; worker_rlimit_nofile 8192;
    events { worker_connections 8000; }
    http { access_log off; ${paths}
    ${server} }`,
  );
  const nginx = new Deno.Command(NGINX, {
    args: ["-p", folder, "-c", `${folder}/nginx.conf`, "-e", `${folder}/error.log`],
    stdout: "null",
    stderr: "null",
  }).spawn();
  return {
    attacked: `http://[::1]:${port}`,
    others: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      nginx.kill("SIGTERM");
      await nginx.status;
      await Deno.remove(folder, { recursive: true });
    },
  };
}

Deno.test({
  name: "behind nginx as docs/deploy.md has it, slow clients do not keep others waiting",
  ignore: !isHere,
  async fn() {
    await using agent = await startServiceProcess("agent", {
      environment: { TRUSTED_PROXIES: "127.0.0.1" },
    });
    await using nginx = await startNginx(agent.url);
    const ask = () => fetch(`${nginx.others}/tools`).then((response) => response.text());
    await until(() => ask().then(() => true, () => false), { what: "an answer of nginx" });

    const head = "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\ncontent-type: application/json\r\n";
    const slow = await Promise.all(
      Array.from({ length: HALF_HEADS + SLOW_BODIES }, async (_, index) => {
        const client = await connectRaw(nginx.attacked);
        await client.say(index < HALF_HEADS ? head : `${head}content-length: 1000\r\n\r\n{`);
        return client;
      }),
    );
    await until(() => slow.some(({ text }) => text.includes(" 503 ")), { what: "a refusal" });
    const times: number[] = [];
    for (let call = 0; call < 21; call++) {
      const started = performance.now();
      assertStringIncludes(await ask(), "calculator");
      times.push(performance.now() - started);
    }
    const median = times.toSorted((a, b) => a - b)[10]!;
    assert(median < 300, `half of the answers took over ${Math.round(median)} ms`);
    assert(!agent.lines.some((line) => line.includes('"path":"/"')), "a slow request came through");
    for (const client of slow) client[Symbol.dispose]();
  },
});
