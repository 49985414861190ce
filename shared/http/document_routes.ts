import { notFound } from "../service/errors.ts";
import { loadApart } from "../service/lazy.ts";
import type { Route } from "./router.ts";

/** The documents of a service as Markdown, by their names in `docs/`. Loaded when they are asked for. */
export type Documents = Record<string, () => Promise<{ default: string }>>;

/**
 * `GET /llms.txt`, which lists the documents for models, and the documents themselves. None contains
 * data, so none needs a key. They are not part of the API and its description.
 */
export function createDocumentRoutes(
  { name, description }: { name: string; description: string },
  documents: Documents,
): Route[] {
  const ofDocuments = { method: "GET", needsKey: false, answers: {} } as const;
  const read = async (name: string) => (await loadApart(documents[name]!)).default;

  async function list(): Promise<string> {
    const lines = Object.keys(documents).map(async (name) => {
      const [, title = name] = /^# (.*)$/m.exec(await read(name)) ?? [];
      return `- [${title}](/docs/${name}.md)`;
    });
    const listed = (await Promise.all(lines)).join("\n");
    return `# ${name}\n\n> ${description}\n\n## Documents\n\n${listed}\n` +
      "- [OpenAPI description](/openapi.json)\n";
  }

  return [
    {
      ...ofDocuments,
      path: "/llms.txt",
      summary: "The documents, for models",
      handler: async () => asMarkdown(await list()),
    },
    {
      ...ofDocuments,
      path: "/docs/:name",
      summary: "A document",
      async handler(_request, { params }) {
        const [, name = ""] = /^(.*)\.md$/.exec(params.name!) ?? [];
        if (!Object.hasOwn(documents, name)) {
          throw notFound("there is no such document; see /llms.txt");
        }
        return asMarkdown(await read(name));
      },
    },
  ];
}

const asMarkdown = (text: string) =>
  new Response(text, { headers: { "content-type": "text/markdown; charset=utf-8" } });
