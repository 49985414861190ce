import { type RawBuilder, sql } from "kysely";

/** What SQLite takes for a path, for the end of one or for none, where PostgreSQL sees a name. */
const LIKE_A_PATH = /^$|^[$[]|["\\]/;

/** A member of a JSON object that is itself an object, in SQLite and PostgreSQL. */
export function objectMember(object: RawBuilder<unknown>, name: string): RawBuilder<unknown> {
  if (LIKE_A_PATH.test(name)) return findMember(object, name);
  return sql`(${object} -> cast(${name} as text))`;
}

/** A member of a JSON object that is a number or `null`. */
export function numberMember(
  object: RawBuilder<unknown>,
  name: string,
): RawBuilder<number | null> {
  if (!LIKE_A_PATH.test(name)) {
    return sql`cast(${object} ->> cast(${name} as text) as double precision)`;
  }
  const text = sql`nullif(cast(${findMember(object, name)} as text), 'null')`;
  return sql`cast(${text} as double precision)`;
}

/** Slower: it looks at one member after another. */
function findMember(object: RawBuilder<unknown>, name: string): RawBuilder<unknown> {
  return sql`(select value from json_each(${object}) where key = cast(${name} as text))`;
}
