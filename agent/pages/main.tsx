import { startApp } from "../../shared/pages/app.tsx";
import { Empty } from "../../shared/pages/components/states.tsx";
import { TopBar } from "../../shared/pages/components/top_bar.tsx";

startApp({
  name: "assay-agent",
  views: [{ path: "/", title: "Start", render: () => <StartView /> }],
});

function StartView() {
  return (
    <>
      <TopBar title="assay-agent" />
      <main id="main">
        <Empty title="assay-agent">
          <p>
            This service answers a conversation with a tool-using agent. Its API is described in
            {" "}
            <a href="/openapi.json">openapi.json</a>.
          </p>
        </Empty>
      </main>
    </>
  );
}
