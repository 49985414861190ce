import { assert, assertEquals } from "@std/assert";
import { postgresBin, startPostgres } from "../fakes/postgres_server.ts";
import { type ServiceProcess, startServiceProcess } from "../fakes/service_process.ts";

/** The status of a request to an agent. */
async function ask({ url }: ServiceProcess): Promise<number> {
  const response = await fetch(`${url}/tools`);
  await response.body?.cancel();
  return response.status;
}

Deno.test({
  name: "agents count RATE_LIMIT together in RATE_LIMIT_STORE, and alone while it is away",
  ignore: postgresBin === undefined,
  async fn() {
    await using server = await startPostgres();
    const address = await server.createDatabase();
    const environment = { RATE_LIMIT: "6/h", RATE_LIMIT_STORE: address, LOG_LEVEL: "debug" };
    const start = () => startServiceProcess("agent", { environment });
    const [one, other] = await Promise.all([start(), start()]);
    await using _one = one;
    await using _other = other;

    const statuses: number[] = [];
    for (const agent of [one, other, one, other, one, other, one, other]) {
      statuses.push(await ask(agent));
    }
    assertEquals(statuses, [200, 200, 200, 200, 200, 200, 429, 429]);

    await using third = await start();
    assertEquals(await ask(third), 429, "a new process finds the count");

    await server.stop();
    await using fourth = await start();
    const alone: number[] = [];
    for (let request = 0; request < 7; request++) alone.push(await ask(fourth));
    assertEquals(alone, [200, 200, 200, 200, 200, 200, 429]);
    assert(fourth.lines.some((line) => line.includes("cannot count requests in the database")));

    const shown = [one, other, third, fourth].flatMap(({ lines }) => lines).join("\n");
    assert(!shown.includes(new URL(address).password), "the password is in a log");
  },
});
