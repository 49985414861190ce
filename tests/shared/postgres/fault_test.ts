import { assertEquals, assertInstanceOf, assertStringIncludes } from "@std/assert";
import { AppError } from "../../../shared/errors.ts";
import { toDatabaseError } from "../../../shared/postgres/fault.ts";

function wordsOf(code: string): string {
  const error = toDatabaseError(Object.assign(new Error("as PostgreSQL says"), { code }));
  assertInstanceOf(error, AppError);
  assertEquals([error.status, error.code], [503, "storage_unavailable"]);
  return error.message;
}

Deno.test("callers are told whether the database is away, read-only or full of connections", () => {
  assertEquals(wordsOf("25006"), "cannot use the database: it is read-only; retry in 5 s");
  assertEquals(
    wordsOf("53300"),
    "cannot use the database: it accepts no further connection (its limit, such as " +
      "max_connections, is reached); retry in 5 s",
  );
  assertEquals(
    wordsOf("ECONNREFUSED"),
    "cannot use the database: it cannot be reached or does not answer; retry in 5 s",
  );
});

Deno.test("callers are told that the database refuses the service, which an administrator can mend", () => {
  const refused = "cannot use the database: it refuses the role or its password; retry in 5 s";
  assertEquals(wordsOf("28P01"), refused); // a new password
  assertEquals(wordsOf("28000"), refused); // a role that may not log in
  assertEquals(
    wordsOf("3D000"),
    "cannot use the database: there is no database of this name on the server; retry in 5 s",
  );
});

Deno.test("a statement that ran into its time limit is named as that, by the server and by the driver", () => {
  const errors = [
    Object.assign(new Error("canceling statement due to statement timeout"), { code: "57014" }),
    new Error("Query read timeout"),
  ];
  for (const error of errors) {
    const { status, message } = toDatabaseError(error) as AppError;
    assertEquals(status, 503);
    assertStringIncludes(message, "a statement took longer than its time limit");
  }
});
