/** The parts of an OpenAPI document that the page shows. */
export interface ApiDocument {
  info: { title: string; description?: string; version: string };
  paths: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, Schema> };
}

interface Operation {
  summary?: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, ApiAnswer>;
}

export interface Parameter {
  in: "path" | "query" | "header" | "cookie";
  name: string;
  required?: boolean;
  description?: string;
  schema?: Schema;
}

export interface Media {
  schema?: Schema;
  example?: unknown;
}

interface ApiAnswer {
  description: string;
  content?: Record<string, Media>;
}

export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  example?: unknown;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: boolean | Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
}

/** One route of the document. */
export interface ApiRoute extends Operation {
  /** `GET /runs/{id}`. */
  name: string;
  method: string;
  path: string;
}

/** The subjects of both services by the names of their routes, in the order of the page. */
const SUBJECTS: [subject: string, names: RegExp][] = [
  ["Answer", /^(POST \/|GET \/(studio\/models|tools|route|streams.*))$/],
  ["OpenAI's protocols", / \/v1\//],
  ["Frontends", / \/(ai-sdk|ag-ui)/],
  ["Evaluate", /^(POST \/evaluate|GET \/models|GET \/scores.*)$/],
  ["Runs", / \/runs(?!.*(turns|grade|agreement|leaks))/],
  ["Turns", / (?!\/compare).*turns(?!.*grade)/],
  ["Comparisons", / \/compare/],
  ["Datasets", /datasets|leaks$/],
  ["Grades", /grade|agreement/],
  ["Service", /./],
];

/** The routes of a document by subject; what the service is for comes first. */
export function listRoutes({ paths }: ApiDocument): Map<string, ApiRoute[]> {
  const routes = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([key, operation]) => {
      const method = key.toUpperCase();
      return { ...operation, name: `${method} ${path}`, method, path };
    })
  );
  const subjectOf = ({ name }: ApiRoute) => SUBJECTS.find(([, names]) => names.test(name))![0];
  const bySubject = Map.groupBy(routes, subjectOf);
  return new Map(SUBJECTS.flatMap(([subject]) => {
    const own = bySubject.get(subject);
    return own ? [[subject, own]] : [];
  }));
}

/** The name and the schema that a reference leads to; a schema without one as it is. */
export function resolve(
  schema: Schema,
  { components }: ApiDocument,
): { name?: string; schema: Schema } {
  const name = schema.$ref?.split("/").at(-1);
  const found = name ? components?.schemas?.[name] : undefined;
  return name && found ? { name, schema: found } : { schema };
}

/** `string`, `array of Turn`, `"a" or "b"`. */
export function typeName(schema: Schema, document: ApiDocument): string {
  const { name } = resolve(schema, document);
  if (name) return name;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" or ");
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.map((choice) => typeName(choice, document)).join(" or ");
  if (schema.items) return `array of ${typeName(schema.items, document)}`;
  if (typeof schema.additionalProperties === "object" && !schema.properties) {
    return `map of ${typeName(schema.additionalProperties, document)}`;
  }
  return [schema.type ?? "any"].flat().join(" or ");
}
