import type { ComponentChildren } from "preact";
import { type ApiDocument, resolve, type Schema, typeName } from "./api_document.ts";

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
          <FieldView
            key={name}
            name={name}
            type={typeName(field, document)}
            isRequired={schema.required?.includes(name)}
            description={field.description}
            byDefault={field.default}
          >
            {inner && depth < MAX_DEPTH && (
              <details>
                <summary>{typeName(inner, document)}</summary>
                <SchemaView schema={inner} document={document} depth={depth + 1} />
              </details>
            )}
          </FieldView>
        );
      })}
    </ul>
  );
}

/** A field of a body, or a parameter. */
export function FieldView({ name, type, isRequired, description, byDefault, children }: {
  name: string;
  type: string;
  isRequired: boolean | undefined;
  description: string | undefined;
  byDefault?: unknown;
  children?: ComponentChildren;
}) {
  return (
    <li>
      <div class="schema-field">
        <code>{name}</code>
        <span class="schema-type">{type}</span>
        {isRequired && <span class="schema-required">required</span>}
        {byDefault !== undefined && (
          <span class="schema-type">default {JSON.stringify(byDefault)}</span>
        )}
      </div>
      {description && (
        <div class="schema-text">
          <InlineCode text={description} />
        </div>
      )}
      {children}
    </li>
  );
}

/** A sentence of the description, with its `code` as code. */
export function InlineCode({ text }: { text: string }) {
  return (
    <>
      {text.split(/`([^`]+)`/).map((part, index) =>
        index % 2 === 1 ? <code key={index}>{part}</code> : part
      )}
    </>
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
