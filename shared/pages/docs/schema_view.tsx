import { type ApiDocument, resolve, type Schema, typeName } from "./api_document.ts";
import { InlineCode } from "./inline_code.tsx";

/** Schemas inside each other, beyond which only the names are shown: some contain themselves. */
const MAX_DEPTH = 5;

/** The fields of a schema, each with its type and meaning; inner ones open on demand. */
export function SchemaView({ schema, document, depth = 0 }: {
  schema: Schema;
  document: ApiDocument;
  depth?: number;
}) {
  const { schema: own } = resolve(schema, document);
  const choices = own.anyOf ?? own.oneOf;
  if (own.properties) return <Fields schema={own} document={document} depth={depth} />;
  if (choices?.some((choice) => hasFields(choice, document))) {
    return (
      <div class="schema-choices">
        {choices.map((choice, index) => (
          <div key={index}>
            <div class="schema-type">{index > 0 && "or "}{typeName(choice, document)}</div>
            {hasFields(choice, document) && (
              <SchemaView schema={choice} document={document} depth={depth + 1} />
            )}
          </div>
        ))}
      </div>
    );
  }
  if (own.items && hasFields(own.items, document)) {
    return <SchemaView schema={own.items} document={document} depth={depth} />;
  }
  return <span class="schema-type">{typeName(own, document)}</span>;
}

function Fields({ schema, document, depth }: {
  schema: Schema;
  document: ApiDocument;
  depth: number;
}) {
  return (
    <ul class="schema">
      {Object.entries(schema.properties ?? {}).map(([name, field]) => {
        const inner = innerOf(field, document);
        return (
          <li key={name}>
            <div class="schema-field">
              <code>{name}</code>
              <span class="schema-type">{typeName(field, document)}</span>
              {schema.required?.includes(name) && <span class="schema-required">required</span>}
              {field.default !== undefined && (
                <span class="schema-type">default {JSON.stringify(field.default)}</span>
              )}
            </div>
            {field.description && (
              <div class="schema-text">
                <InlineCode text={field.description} />
              </div>
            )}
            {inner && depth < MAX_DEPTH && (
              <details>
                <summary>{typeName(inner, document)}</summary>
                <SchemaView schema={inner} document={document} depth={depth + 1} />
              </details>
            )}
          </li>
        );
      })}
    </ul>
  );
}

/** The schema with fields that a field holds: itself, its items, its values, or a choice. */
function innerOf(field: Schema, document: ApiDocument): Schema | undefined {
  const { schema } = resolve(field, document);
  if (schema.properties) return field;
  const { items, additionalProperties: values } = schema;
  const inside = [
    ...(items ? [items] : []),
    ...(typeof values === "object" ? [values] : []),
    ...(schema.anyOf ?? schema.oneOf ?? []),
  ];
  return inside.find((candidate) => hasFields(candidate, document));
}

function hasFields(schema: Schema, document: ApiDocument): boolean {
  const { schema: own } = resolve(schema, document);
  if (own.properties) return true;
  if (own.items) return hasFields(own.items, document);
  return (own.anyOf ?? own.oneOf ?? []).some((choice) =>
    resolve(choice, document).schema.properties !== undefined
  );
}
