import { assertEquals } from "@std/assert";
import { postgresBin, startPostgres } from "../fakes/postgres_server.ts";
import type { ServiceProcess } from "../fakes/service_process.ts";
import { startInstances } from "./instances.ts";

/** A dataset in JSON lines; every content is another version. */
function linesOf(content: string, scenarios = 3): string {
  return Array.from({ length: scenarios }, (_, index) =>
    `${
      JSON.stringify({
        id: `s${index}`,
        interactions: [{ id: "1", user_message: `${content} ${index}?` }],
      })
    }\n`).join("");
}

async function put(instance: ServiceProcess, body: BodyInit) {
  const response = await fetch(`${instance.url}/datasets/support?format=jsonl`, {
    method: "PUT",
    headers: { "content-type": "application/jsonl" },
    body,
  });
  const { version } = await response.json();
  return { status: response.status, version: version as string };
}

async function read(instance: ServiceProcess, query: string): Promise<string> {
  const response = await fetch(`${instance.url}/datasets/support?format=jsonl${query}`);
  assertEquals(response.status, 200);
  return await response.text();
}

/** The questions of a version, which tell the contents apart. */
const questionsIn = (lines: string) =>
  [...lines.matchAll(/"user_message":"([^"]*)"/g)].map(([, q]) => q);

Deno.test({
  name: "two processes write one dataset at once: every content is one version, whole in both",
  ignore: postgresBin === undefined,
  async fn() {
    await using server = await startPostgres();
    await using instances = await startInstances(2, { EVAL_DATA: await server.createDatabase() });
    const [one, other] = instances.all as [ServiceProcess, ServiceProcess];

    const contents = Array.from({ length: 20 }, (_, index) => `content ${index}`);
    const written = await Promise.all(contents.map(async (content, index) => {
      const body = linesOf(content);
      // Every second content is written by both, the others by one of them.
      const writers = index % 2 === 0 ? [one, other] : [index % 4 === 1 ? one : other];
      const answers = await Promise.all(writers.map((writer) => put(writer, body)));
      const statuses = answers.map(({ status }) => status).sort();
      assertEquals(statuses, writers.length === 2 ? [200, 201] : [201], content);
      assertEquals(new Set(answers.map(({ version }) => version)).size, 1, content);
      return { content, version: answers[0]!.version };
    }));
    for (const instance of [one, other]) {
      const list = await fetch(`${instance.url}/datasets/support/versions`);
      const { versions } = await list.json() as { versions: { version: string }[] };
      assertEquals(
        versions.map(({ version }) => version).sort(),
        written.map(({ version }) => version).sort(),
      );
      for (const { content, version } of written) {
        const lines = await read(instance, `&version=${version}`);
        assertEquals(questionsIn(lines), [0, 1, 2].map((index) => `${content} ${index}?`));
      }
    }
    assertEquals(await read(one, ""), await read(other, ""), "both have the same latest version");
  },
});

Deno.test({
  name: "a writer that is killed leaves nothing of its version, and the other's is whole",
  ignore: postgresBin === undefined,
  async fn() {
    await using server = await startPostgres();
    await using instances = await startInstances(2, { EVAL_DATA: await server.createDatabase() });
    const [one, other] = instances.all as [ServiceProcess, ServiceProcess];
    const half = linesOf("half", 5_000); // several parts, which are stored as they come
    const sent = Promise.withResolvers<void>();
    const upload = new ReadableStream<Uint8Array>({
      async pull(controller) {
        controller.enqueue(new TextEncoder().encode(half));
        sent.resolve();
        await new Promise(() => {}); // the rest never comes
      },
    });
    const lost = put(one, upload).catch(() => "lost");
    await sent.promise;
    const whole = await put(other, linesOf("whole"));
    assertEquals(whole.status, 201);
    one.kill("SIGKILL");
    assertEquals(await lost, "lost");
    const restarted = await instances.restart(0);
    for (const instance of [restarted, other]) {
      const list = await fetch(`${instance.url}/datasets/support/versions`);
      const { versions } = await list.json() as { versions: { version: string }[] };
      assertEquals(versions.map(({ version }) => version), [whole.version]);
      assertEquals(questionsIn(await read(instance, ""))[0], "whole 0?");
    }
  },
});
