import { useEffect, useRef, useState } from "preact/hooks";
import { Button, IconButton } from "../../shared/pages/components/button.tsx";
import { useShortcuts } from "../../shared/pages/components/keyboard.tsx";
import { Link } from "../../shared/pages/components/link.tsx";
import { Menu } from "../../shared/pages/components/menu.tsx";
import { Empty, Loading, Notice, ProblemNotice } from "../../shared/pages/components/states.tsx";
import { SkipLink, TopBar } from "../../shared/pages/components/top_bar.tsx";
import { navigate } from "../../shared/pages/location.ts";
import { stopAnswering } from "./answering.ts";
import { Composer, focusComposer, setDraft } from "./composer.tsx";
import { shownTurns, titleOf } from "./conversation/conversation.ts";
import {
  activeModels,
  chooseModels,
  current,
  isForgetful,
  isMissing,
  showConversation,
} from "./conversation/conversation_state.ts";
import { ConversationList } from "./conversation/conversation_list.tsx";
import { saveFile } from "../../shared/pages/save_file.ts";
import { toJsonFile, toMarkdownFile } from "./conversation/conversation_file.ts";
import { ModelPicker } from "./model_picker.tsx";
import { isDemo, loadModels, models, modelsProblem } from "./model_state.ts";
import { SaveTestDialog } from "./save_test/save_test_dialog.tsx";
import { SettingsDialog } from "./settings_dialog.tsx";
import { slugOf } from "./save_test/test_scenario.ts";
import { Transcript } from "./transcript.tsx";

/** The chat: the conversations on the left, one of them on the right. */
export function ChatView({ id }: { id?: string | undefined }) {
  const [open, setOpen] = useState<"settings" | "test" | undefined>();
  const [isListOpen, setListOpen] = useState(false);
  useEffect(() => {
    void showConversation(id);
    setListOpen(false);
    focusComposer();
  }, [id]);
  useShortcuts([
    { key: "/", does: "Write a message", run: focusComposer },
    { key: "n", does: "New conversation", run: () => navigate("/") },
    { key: "s", does: "Settings", run: () => setOpen("settings") },
    { key: "Enter", does: "Send the message" },
    { key: "Shift+Enter", does: "New line in the message" },
    { key: "Escape", does: "Stop the answer", run: stopAnswering },
  ]);
  const close = () => setOpen(undefined);
  const listOpener = useRef<HTMLSpanElement>(null);
  function closeList(): void {
    setListOpen(false);
    listOpener.current?.querySelector("button")?.focus();
  }

  return (
    <div class="chat">
      <SkipLink />
      <ConversationList isOpen={isListOpen} onClose={closeList} />
      <div class="chat-main">
        <TopBar
          hasSkipLink={false}
          title="assay-agent"
          start={
            <span class="narrow-only" ref={listOpener}>
              <IconButton icon="menu" label="Conversations" onClick={() => setListOpen(true)} />
            </span>
          }
          actions={
            <>
              <IconButton
                icon="settings"
                label="Settings"
                text="Settings"
                onClick={() => setOpen("settings")}
              />
              {current.value && shownTurns(current.value).length > 0 && (
                <span class="save-test">
                  <Button icon="test" onClick={() => setOpen("test")}>Save as test</Button>
                </span>
              )}
              <MoreMenu />
            </>
          }
        >
          <Models />
        </TopBar>
        <main id="main" class="chat-content">
          <Content id={id} />
          <Composer />
        </main>
      </div>
      {open === "settings" && <SettingsDialog onClose={close} />}
      {open === "test" && current.value && (
        <SaveTestDialog conversation={current.value} onClose={close} />
      )}
    </div>
  );
}

function Content({ id }: { id: string | undefined }) {
  if (isMissing.value) {
    return (
      <Empty icon="search" title="This conversation is not in this browser">
        <p>
          Conversations are kept in the browser in which they were held. Export it there, and import
          the file here.
        </p>
        <Link class="button" href="/">New conversation</Link>
      </Empty>
    );
  }
  if (current.value) return <Transcript key={current.value.id} conversation={current.value} />;
  return id ? <Loading what="the conversation" /> : <Welcome />;
}

const EXAMPLES = [
  "What is 17% of 240?", // first, because its answer stays right if it is saved as a test
  "What time is it in Tokyo?",
  "What can you do?",
];

/** Before the first message. */
function Welcome() {
  return (
    <div class="welcome">
      <h2>Ask the agent</h2>
      <p class="muted">
        It answers with the model of your choice, and uses tools where they help. Conversations stay
        in this browser.
      </p>
      <div class="welcome-examples">
        {EXAMPLES.map((text) => <Button key={text} onClick={() => setDraft(text)}>{text}</Button>)}
      </div>
      {isDemo.value && (
        <Notice icon="chat">
          <div>
            No provider is configured, so an embedded demo answers. It is a small program, not a
            language model. Set <code>HUB_BASE_URL</code> or <code>STUDIO_BASE_URL</code>{" "}
            to use a real one.
          </div>
        </Notice>
      )}
      {isForgetful.value && (
        <Notice kind="warn">
          This browser does not keep conversations: they are lost when you close the page.
        </Notice>
      )}
      {modelsProblem.value && (
        <ProblemNotice problem={modelsProblem.value}>
          <Button isSmall icon="retry" onClick={loadModels}>Try again</Button>
        </ProblemNotice>
      )}
    </div>
  );
}

/** One model, or two side by side. */
function Models() {
  const chosen = activeModels.value;
  const [first = "", second] = chosen;
  return (
    <div class="chat-models">
      <ModelPicker
        label={second === undefined ? "Model" : "First model"}
        value={first}
        onChange={(model) => chooseModels([model, ...chosen.slice(1)])}
      />
      {second === undefined
        ? (
          <IconButton
            icon="columns"
            label="Answer with a second model side by side"
            disabled={!first}
            onClick={() => chooseModels([first, otherModel(first)])}
          />
        )
        : (
          <>
            <ModelPicker
              label="Second model"
              value={second}
              onChange={(model) => chooseModels([first, model])}
            />
            <IconButton
              icon="close"
              label="Answer with the first model only"
              onClick={() => chooseModels([first])}
            />
          </>
        )}
    </div>
  );
}

function otherModel(model: string): string {
  return models.value?.find(({ id }) => id !== model)?.id ?? model;
}

/** What can be done with the whole conversation. */
function MoreMenu() {
  const conversation = current.value;
  if (!conversation || shownTurns(conversation).length === 0) return null;
  const name = slugOf(titleOf(conversation));
  return (
    <Menu
      button={{ kind: "quiet", icon: "more", "aria-label": "More" }}
      items={[
        {
          label: "Export as JSON",
          icon: "download",
          onSelect: () => saveFile(`${name}.json`, toJsonFile([conversation]), "application/json"),
        },
        {
          label: "Export as Markdown",
          icon: "download",
          onSelect: () => saveFile(`${name}.md`, toMarkdownFile(conversation), "text/markdown"),
        },
      ]}
    />
  );
}
