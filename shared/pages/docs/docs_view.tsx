import { signal } from "@preact/signals";
import { Fragment } from "preact";
import { useEffect, useState } from "preact/hooks";
import { requestJson } from "../api.ts";
import { ApiProblem } from "../api_problem.ts";
import { Button } from "../components/button.tsx";
import { useShortcuts } from "../components/keyboard.tsx";
import { Link } from "../components/link.tsx";
import { Loading, ProblemNotice } from "../components/states.tsx";
import { TopBar } from "../components/top_bar.tsx";
import { query } from "../location.ts";
import { type ApiDocument, type ApiRoute, listRoutes } from "./api_document.ts";
import { RouteView } from "./route_view.tsx";

const document = signal<ApiDocument | undefined>(undefined);

/** The reference of the API, from the service's own description, with a form to try each route. */
export function DocsView({ name }: { name: string }) {
  const [problem, setProblem] = useState<ApiProblem>();
  async function load(): Promise<void> {
    setProblem(undefined);
    try {
      document.value ??= await requestJson<ApiDocument>("/openapi.json");
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      setProblem(error);
    }
  }
  useEffect(() => void load(), []);
  return (
    <div class="docs">
      <TopBar title={`${name}: API`}>
        <Link class="button quiet" href="/">Back</Link>
      </TopBar>
      {document.value ? <Reference document={document.value} /> : (
        <main id="main" class="docs-main">
          {problem
            ? (
              <ProblemNotice problem={problem}>
                <Button isSmall icon="retry" onClick={load}>Try again</Button>
              </ProblemNotice>
            )
            : <Loading what="the description of the API" />}
        </main>
      )}
    </div>
  );
}

function Reference({ document }: { document: ApiDocument }) {
  const [search, setSearch] = useState("");
  useShortcuts([{ key: "/", does: "Search the routes", run: focusSearch }]);
  const routes = listRoutes(document);
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = [...routes].map(([subject, own]) => ({
    subject,
    own: own.filter(({ name, summary = "" }) =>
      words.every((word) => `${subject} ${name} ${summary}`.toLowerCase().includes(word))
    ),
  })).filter(({ own }) => own.length > 0);
  const all = [...routes.values()].flat();
  const chosen = all.find(({ name }) => name === query.value.get("route")) ?? all[0];
  return (
    <div class="docs-columns">
      <nav class="docs-list" aria-label="Routes">
        <input
          class="input"
          type="search"
          aria-label="Search the routes"
          placeholder="Search"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
        {found.map(({ subject, own }) => (
          <section key={subject} aria-label={subject}>
            <h2>{subject}</h2>
            <ul>
              {own.map((route) => (
                <li key={route.name}>
                  <RouteLink route={route} isChosen={route === chosen} />
                </li>
              ))}
            </ul>
          </section>
        ))}
        {found.length === 0 && <p class="muted">No route contains these words.</p>}
        <p class="muted small">
          {document.info.title} {document.info.version} · <a href="/openapi.json">openapi.json</a>
        </p>
      </nav>
      <main id="main" class="docs-main">
        {chosen && <RouteView key={chosen.name} route={chosen} document={document} />}
      </main>
    </div>
  );
}

function RouteLink({ route, isChosen }: { route: ApiRoute; isChosen: boolean }) {
  const { name, method, path, summary } = route;
  return (
    <Link
      class="docs-route"
      href={`/docs?route=${encodeURIComponent(name)}`}
      title={summary}
      {...(isChosen && { "aria-current": "page" as const })}
    >
      <span class={`method ${method.toLowerCase()}`}>{method}</span>
      <code>
        {path.split(/(?=\/)/).map((part, index) => (
          <Fragment key={index}>
            {part}
            <wbr />
          </Fragment>
        ))}
      </code>
    </Link>
  );
}

function focusSearch(): void {
  globalThis.document.querySelector<HTMLInputElement>(".docs-list input")?.focus();
}
