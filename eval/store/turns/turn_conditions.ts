import { type Expression, type RawBuilder, sql, type SqlBool } from "kysely";
import type { TurnFilter, TurnOutcome } from "../list_query.ts";
import { facetName } from "../turn_record.ts";
import { ROUNDING } from "../../test/rounding.ts";
import type { InteractionResult } from "../../test/interaction_result.ts";

/** The value of a score in a row of `turns`. */
export function scoreValue(name: string): RawBuilder<number | null> {
  if (name === "overall") return sql`overall`;
  return numberMember(sql`(facets -> 'scores')`, facetName(name));
}

/** The conditions of a filter on `turns`; that of a text also finds it in other fields of a turn. */
export function conditionsOf(filter: TurnFilter): Expression<SqlBool>[] {
  const { outcome, score, label, scenarios, attempt, turn, lastTurn, text } = filter;
  const conditions: RawBuilder<SqlBool>[] = [];
  if (outcome) conditions.push(anyOf(outcome.oneOf.map((one) => hasOutcome(one, outcome))));
  if (score) {
    const value = scoreValue(score.name);
    conditions.push(sql`${value} is not null`);
    if (score.min !== undefined) conditions.push(sql`${value} >= ${score.min}`);
    if (score.max !== undefined) conditions.push(sql`${value} <= ${score.max}`);
  }
  if (label) {
    const found = objectMember(sql`(facets -> 'labels')`, facetName(label.key));
    const part = (name: "expected" | "found") => sql`${found} ->> ${sql.lit(name)}`;
    conditions.push(sql`${part("found")} is not null`);
    for (const name of ["expected", "found"] as const) {
      const wanted = label[name];
      if (wanted !== undefined) conditions.push(sql`${part(name)} = ${facetName(wanted)}`);
    }
  }
  if (scenarios) {
    conditions.push(
      scenarios.length === 0 ? sql`1 = 0` : sql`scenario in (${sql.join(scenarios)})`,
    );
  }
  if (attempt !== undefined) conditions.push(sql`attempt = ${attempt}`);
  if (turn !== undefined) conditions.push(sql`turn = ${turn}`);
  if (lastTurn !== undefined) conditions.push(sql`turn <= ${lastTurn}`);
  if (text !== undefined) {
    const inJson = JSON.stringify(text).slice(1, -1);
    conditions.push(
      anyOf(likePatterns(inJson).map((like) => sql`lower(result) like ${like} escape '!'`)),
    );
  }
  const { latency, agreement, graded, changed } = filter;
  const latencyMs = sql`cast(facets ->> 'latency_ms' as double precision)`;
  if (latency?.min !== undefined) conditions.push(sql`${latencyMs} >= ${latency.min}`);
  if (latency?.max !== undefined) conditions.push(sql`${latencyMs} <= ${latency.max}`);
  if (agreement !== undefined) conditions.push(sql`facets ->> 'agreement' = ${agreement}`);
  if (graded !== undefined) {
    const found = sql<SqlBool>`exists (select 1 from grades as given where ${isAtPlaceOf("given")}
      and given.run_id = turns.run_id)`;
    conditions.push(graded ? found : sql`not ${found}`);
  }
  if (changed) {
    conditions.push(sql`exists (select 1 from turns as before where ${isAtPlaceOf("before")}
      and before.run_id = ${changed.from}
      and abs(coalesce(before.overall, 0) - coalesce(turns.overall, 0)) >= ${
      changed.by - ROUNDING
    })`);
  }
  return conditions;
}

/** Another table's row is about the same place in its run. */
function isAtPlaceOf(table: string): RawBuilder<SqlBool> {
  const of = (column: string) => sql.ref(`${table}.${column}`);
  return sql`${of("scenario")} = turns.scenario and ${of("attempt")} = turns.attempt
    and ${of("turn")} = turns.turn`;
}

function anyOf(conditions: RawBuilder<SqlBool>[]): RawBuilder<SqlBool> {
  return sql`(${sql.join(conditions, sql` or `)})`;
}

/** A required check failed, or the tool calls do not fit. */
const IS_BARRED = sql<SqlBool>`(facets ->> 'barred_by' is not null)`;

/** Whether a turn has an outcome; see `outcomeOf`. */
export function hasOutcome(outcome: TurnOutcome, { threshold }: { threshold: number }) {
  const limit = threshold - ROUNDING;
  const isFree = sql`failed = 0 and not ${IS_BARRED}`;
  switch (outcome) {
    case "failed":
      return sql<SqlBool>`failed = 1`;
    case "missing":
      return sql<SqlBool>`(${isFree} and overall is null and missing = 1)`;
    case "unscored":
      return sql<SqlBool>`(${isFree} and overall is null and missing = 0)`;
    case "passed":
      return sql<SqlBool>`(${isFree} and overall >= ${limit})`;
    case "below":
      return sql<SqlBool>`(failed = 0 and (overall < ${limit} or ${IS_BARRED}))`;
  }
}

/** Names that SQLite would read as a JSON path, or reject; PostgreSQL takes them as names. */
const LIKE_A_PATH = /^$|^[$[]|["\\]/;

/** A member of a JSON object that is itself an object, in SQLite and PostgreSQL. */
function objectMember(object: RawBuilder<unknown>, name: string): RawBuilder<unknown> {
  if (LIKE_A_PATH.test(name)) return findMember(object, name);
  return sql`(${object} -> cast(${name} as text))`;
}

/** A member of a JSON object that is a number or `null`. */
function numberMember(
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

/**
 * Patterns of `lower(column) like … escape '!'` for a text in any letter case. SQLite's `lower`
 * knows only ASCII, so other letters are looked for as they are, in lower case and in upper case.
 */
export function likePatterns(text: string): string[] {
  const asciiLower = (form: string) => form.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  const forms = new Set([text, text.toLowerCase(), text.toUpperCase()].map(asciiLower));
  return [...forms].map((form) => `%${form.replaceAll(/[!%_]/g, "!$&")}%`);
}

/** Whether a turn's message, reply or reference contains a text, in any letter case. */
export function findsText(
  { user_message, agent_reply, reference_reply }: Pick<
    InteractionResult,
    "user_message" | "agent_reply" | "reference_reply"
  >,
  text: string,
): boolean {
  const wanted = text.toLowerCase();
  return [user_message, agent_reply, reference_reply]
    .some((own) => own.toLowerCase().includes(wanted));
}
