import { asFields, asList } from "../../../shared/service/fields.ts";

/** Of one answer; a schema may refer to itself. Further ones are `null`. */
const MOST_VALUES = 200;
const MOST_ITEMS = 10;

/** An answer as JSON, if the request's `response_format` asks for it. */
export function inFormat(answer: string, responseFormat: unknown): string {
  const { type, json_schema } = asFields(responseFormat);
  if (type === "json_object") return JSON.stringify({ answer });
  if (type !== "json_schema") return answer;
  const root = asFields(json_schema).schema;
  let values = 0;

  /** A value that fits: each text is the answer; of several values or forms it is the first. */
  function fit(schema: unknown): unknown {
    if (++values > MOST_VALUES) return null;
    const fields = asFields(schema);
    const { $ref, properties, items } = fields;
    if (typeof $ref === "string") {
      const names = $ref.split("/").slice(1);
      return fit(names.reduce<unknown>((found, name) => asFields(found)[name], root));
    }
    if ("const" in fields) return fields.const;
    if (fields.enum) return asList(fields.enum)[0];
    const [form] = [...asList(fields.anyOf), ...asList(fields.oneOf)];
    if (form) return fit(form);
    const [kind = properties ? "object" : "string"] = [fields.type].flat();
    switch (kind) {
      case "object":
        return Object.fromEntries(
          Object.entries(asFields(properties)).map(([name, inner]) => [name, fit(inner)]),
        );
      case "array":
        return Array.from(
          { length: Math.min(Number(fields.minItems ?? 1), MOST_ITEMS) },
          () => fit(items),
        );
      case "integer":
      case "number":
        return Number(fields.minimum ?? 0);
      case "boolean":
        return false;
      case "null":
        return null;
      default:
        return answer;
    }
  }

  return JSON.stringify(fit(root));
}
