import { type ApiDocument, type ApiRoute, type Media, typeName } from "./api_document.ts";
import { FieldView, InlineCode, SchemaView } from "./schema_view.tsx";
import { TryForm } from "./try_form.tsx";

/** All about one route, and a form to try it. */
export function RouteView({ route, document }: { route: ApiRoute; document: ApiDocument }) {
  const { method, path, summary, parameters = [], requestBody, responses } = route;
  return (
    <article class="route">
      <h2>
        <span class={`method ${method.toLowerCase()}`}>{method}</span> <code>{path}</code>
      </h2>
      <p>{summary}</p>
      <div class="route-columns">
        <div class="route-about">
          {parameters.length > 0 && (
            <section>
              <h3>Parameters</h3>
              <ul class="schema">
                {parameters.map(({ name, in: place, required, description, schema }) => (
                  <FieldView
                    key={`${place} ${name}`}
                    name={name}
                    type={`${place}, ${schema ? typeName(schema, document) : "string"}`}
                    isRequired={required}
                    description={description}
                  />
                ))}
              </ul>
            </section>
          )}
          {requestBody && (
            <section>
              <h3>Body</h3>
              <Contents content={requestBody.content} document={document} />
            </section>
          )}
          <section>
            <h3>Answers</h3>
            {Object.entries(responses).map(([status, { description, content = {} }]) => (
              <details key={status} class="route-answer" open={status.startsWith("2")}>
                <summary>
                  <span class={status.startsWith("2") ? "badge good" : "badge"}>{status}</span>
                  <span>
                    <InlineCode text={description} />
                  </span>
                </summary>
                <Contents content={content} document={document} />
              </details>
            ))}
          </section>
        </div>
        <section class="card route-try">
          <h3>Try it</h3>
          <TryForm key={route.name} route={route} />
        </section>
      </div>
    </article>
  );
}

function Contents(
  { content, document }: { content: Record<string, Media>; document: ApiDocument },
) {
  return (
    <>
      {Object.entries(content).map(([type, { schema }]) => (
        <div key={type} class="route-content">
          <div class="schema-type">{type}{schema && `: ${typeName(schema, document)}`}</div>
          {schema && <SchemaView schema={schema} document={document} />}
        </div>
      ))}
    </>
  );
}
