import { startApp } from "../../shared/pages/app.tsx";
import { lazy, loadWhenIdle } from "../../shared/pages/components/lazy.tsx";
import { BarePage } from "../../shared/pages/components/top_bar.tsx";
import { ChatView } from "./chat_view.tsx";
import { keepUnsaved, loadConversations } from "./conversation/conversation_state.ts";
import { loadModels } from "./model_state.ts";

const docs = () => import("../../shared/pages/docs/docs_view.tsx");
const DocsView = lazy(
  () => docs().then((views) => views.DocsView),
  ({ children }) => <BarePage title="assay-agent">{children}</BarePage>,
);

startApp({
  name: "assay-agent",
  views: [
    { path: "/", title: "Chat", render: () => <ChatView /> },
    { path: "/ui/c/:id", title: "Chat", render: ({ id }) => <ChatView id={id} /> },
    { path: "/docs", title: "API", render: () => <DocsView name="assay-agent" /> },
  ],
});
void loadConversations();
void loadModels();
globalThis.addEventListener("pagehide", keepUnsaved);
loadWhenIdle([docs]);
