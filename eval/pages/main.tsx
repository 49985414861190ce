import { startApp } from "../../shared/pages/app.tsx";
import { Empty } from "../../shared/pages/components/states.tsx";
import { DocsView } from "../../shared/pages/docs/docs_view.tsx";
import { TopBar } from "../../shared/pages/components/top_bar.tsx";

startApp({
  name: "assay-eval",
  views: [
    { path: "/", title: "Start", render: () => <StartView /> },
    { path: "/docs", title: "API", render: () => <DocsView name="assay-eval" /> },
  ],
});

function StartView() {
  return (
    <>
      <TopBar title="assay-eval" />
      <main id="main">
        <Empty title="assay-eval">
          <p>
            This service tests models and scores their replies. Its API is described in{" "}
            <a href="/openapi.json">openapi.json</a>.
          </p>
        </Empty>
      </main>
    </>
  );
}
