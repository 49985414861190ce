import { Button } from "../../shared/pages/components/button.tsx";
import { Icon } from "../../shared/pages/components/icon.tsx";
import { ProblemNotice } from "../../shared/pages/components/states.tsx";
import { setDraft } from "./composer.tsx";
import { isForgetful } from "./conversation/conversation_state.ts";
import { isDemo, loadModels, modelsProblem } from "./model_state.ts";

const EXAMPLES = [
  "What is 17% of 240?", // first, because its answer stays right if it is saved as a test
  "What time is it in Tokyo?",
  "What can you do?",
];

/** Before the first message. */
export function Welcome() {
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
      {isDemo.value && <DemoNotice />}
      {isForgetful.value && (
        <div class="notice warn">
          <Icon name="warning" />
          <div>
            This browser does not keep conversations: they are lost when you close the page.
          </div>
        </div>
      )}
      {modelsProblem.value && (
        <ProblemNotice problem={modelsProblem.value}>
          <Button isSmall icon="retry" onClick={loadModels}>Try again</Button>
        </ProblemNotice>
      )}
    </div>
  );
}

/** The demo says that it is one. */
function DemoNotice() {
  return (
    <div class="notice">
      <Icon name="chat" />
      <div>
        <div>
          No provider is configured, so an embedded demo answers. It is a small program, not a
          language model. Set <code>HUB_BASE_URL</code> or <code>STUDIO_BASE_URL</code>{" "}
          to use a real one.
        </div>
      </div>
    </div>
  );
}
