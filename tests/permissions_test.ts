import { assert, assertEquals } from "@std/assert";
import { parse } from "@std/dotenv";
import { AgentConfig, INHERITED } from "../agent/config.ts";
import { EvalConfig } from "../eval/config.ts";
import { parseConfig } from "../shared/service/config.ts";
import { writeTables } from "../.ci/tables.ts";
import { permissionFlags } from "../.ci/task_flags.ts";

const ROOT = new URL("../", import.meta.url);

const SERVICES = [
  { name: "agent", schema: AgentConfig },
  { name: "eval", schema: EvalConfig },
] as const;

for (const { name, schema } of SERVICES) {
  Deno.test(`${name} may read the variables of its configuration and of its programs, and no other`, () => {
    const allowed = permissionFlags(name).find((flag) => flag.startsWith("--allow-env="))!
      .slice("--allow-env=".length).split(",");
    const covers = (pattern: string, variable: string) =>
      pattern.endsWith("*") ? variable.startsWith(pattern.slice(0, -1)) : variable === pattern;
    // What the agent passes on to the programs that it starts is no configuration of its own.
    const passedOn = name === "agent" ? INHERITED : [];
    const variables = [...Object.keys(schema.shape), ...passedOn];
    for (const variable of variables) {
      assert(allowed.some((pattern) => covers(pattern, variable)), `${variable} is not allowed`);
    }
    for (const pattern of allowed) {
      assert(variables.some((variable) => covers(pattern, variable)), `${pattern} is not needed`);
    }
    assert(permissionFlags(name).includes("--ignore-env"));
  });

  Deno.test(`the values in .env.example are the defaults of ${name}`, () => {
    const example = parse(Deno.readTextFileSync(new URL(".env.example", ROOT)));
    const own = Object.fromEntries(Object.keys(schema.shape).map((key) => [key, example[key]]));
    assertEquals<unknown>(parseConfig(schema, own), parseConfig(schema, {}));
  });
}

for (const [path, text] of writeTables()) {
  Deno.test(`${path} is what deno task tables writes`, () => {
    assertEquals(Deno.readTextFileSync(new URL(path, ROOT)), text);
  });
}

Deno.test("the permissions of the services are as listed here", () => {
  const granted = SERVICES.map(({ name }) =>
    permissionFlags(name).filter((flag) => !flag.includes("-env"))
  );
  assertEquals(granted, [
    // The null device is opened to count how many files the process may open.
    ["--allow-net", "--allow-read=.env,mcp.json"],
    // Only the configuration says where the data is; `main.ts` gives up writing once it knows.
    ["--allow-net", "--allow-read", "--allow-write"],
  ]);
});
