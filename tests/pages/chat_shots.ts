import type { Page } from "playwright-core";
import { startServiceProcess } from "../fakes/service_process.ts";
import { ask, chooseModel, messageBox, say, startScriptedAgent } from "./chat.ts";
import type { Shot } from "./screenshots.ts";

const MODELS = ["acme", "northwind", "fabrikam", "contoso", "tailspin"].flatMap((vendor) =>
  ["chat-mini", "chat-small", "chat-medium", "chat-large", "reason-small", "reason-large"].flatMap(
    (
      model,
    ) => [`${vendor}/${model}`, ...(model.startsWith("chat") ? [`${vendor}/${model}-128k`] : [])],
  )
);

const ANSWERS: Record<string, string> = {
  "How do I return a lamp that I bought 12 days ago?":
    `You can return the lamp within **30 days** of delivery. It works like this:

1. Open *Orders* and choose the lamp.
2. Print the label that you get by mail.
3. Hand the parcel in at any post office.

The money is back on your card about **5 working days** after the parcel has arrived.

| Days since delivery | What you get |
| ------------------- | -----------: |
| up to 30            |        €49.00 |
| 31 to 60            |        €24.50 |`,
  "calculate 0.85 * 49.00 - 4.90":
    "With the coupon you pay **€36.75** for the lamp and its return.",
  "Show me how to ask for it by API.": `Send the order and the reason:

\`\`\`sh
curl -s https://shop.example/returns \\
  -H 'content-type: application/json' \\
  -d '{"order": "R-1043", "reason": "too bright"}'
\`\`\`

The answer has the number of the return, such as \`RT-20417\`.`,
  "هل يمكنني إرجاع المصباح؟":
    "نعم، يمكنك إرجاع المصباح خلال **30 يومًا** من تاريخ التسليم.\n\n- افتح صفحة الطلبات\n- اختر المصباح\n- اطبع الملصق",
  "think about the price": "It is **€49.00**, delivery included.",
};

const LONG_WORD =
  "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft";

/** The pictures of the chat and of the API's reference, on a scripted agent. */
export async function chatShots(): Promise<{ shots: Shot[] } & AsyncDisposable> {
  const agent = await startScriptedAgent({}, { models: MODELS });
  const demo = await startServiceProcess("agent");
  const locked = await startServiceProcess("agent", { environment: { API_KEYS: "a-key" } });
  const { url, hub } = agent;

  async function saveAsTest(page: Page, filled: { question: string; dashboard: string }) {
    await page.goto(url);
    await ask(page, filled.question);
    await page.getByRole("button", { name: "Save as test" }).click();
    await page.getByLabel("Dashboard of assay-eval").fill(filled.dashboard);
  }

  for (const [asked, answer] of Object.entries(ANSWERS)) hub.answers.set(asked, answer);
  hub.answers.set(
    "long",
    `${LONG_WORD.repeat(3)}\n\n${"A long answer goes on and on. ".repeat(60)}\n\n\`\`\`\n${
      "x = x + 1; ".repeat(30)
    }\n\`\`\``,
  );
  const [returns = "", api = ""] = [Object.keys(ANSWERS)[0], Object.keys(ANSWERS)[2]];

  const shots: Shot[] = [
    {
      name: "chat",
      isDocumented: true,
      async take(page) {
        await page.goto(url);
        for (const title of ["Which plan fits a team of five?", "Translate the delivery notice"]) {
          await ask(page, title);
          await page.goto(url);
        }
        await ask(page, returns);
        await ask(page, "calculate 0.85 * 49.00 - 4.90");
        await page.locator(".transcript").evaluate((element) => element.scrollTo({ top: 0 }));
        await page.locator(".tool summary").click();
        await page.locator(".transcript").evaluate((element) => element.scrollTo({ top: 9e9 }));
        await page.locator(".transcript").focus();
        await page.mouse.move(0, 0);
      },
    },
    {
      name: "chat-side-by-side",
      isDocumented: true,
      async take(page) {
        await page.goto(url);
        await page.getByRole("button", { name: "Answer with a second model side by side" }).click();
        await chooseModel(page, "northwind/chat-large", /^Second model:/);
        await ask(page, returns);
        await messageBox(page).fill("And if the box is open?");
        await page.locator(".composer [type=submit]:enabled").waitFor();
        await page.mouse.move(0, 0);
      },
    },
    {
      name: "chat-narrow",
      isDocumented: true,
      width: 360,
      height: 720,
      async take(page) {
        await page.goto(url);
        await ask(page, api);
      },
    },
    { name: "empty", take: async (page) => void await page.goto(url) },
    {
      name: "waiting",
      async take(page) {
        await page.goto(url);
        await say(page, "hold on");
        await page.getByText("The beginning.").waitFor();
      },
    },
    {
      name: "error",
      async take(page) {
        await page.goto(url);
        await say(page, "break it");
        await page.getByRole("alert").waitFor();
        await say(page, `fail ${crypto.randomUUID()}`);
        await page.getByRole("alert").nth(1).waitFor();
      },
    },
    {
      name: "offline",
      async take(page) {
        await page.goto(url);
        await ask(page, "hello");
        await page.context().setOffline(true);
        await say(page, "Are you there?");
        await page.getByRole("alert").waitFor();
      },
    },
    {
      name: "long",
      async take(page) {
        await page.goto(url);
        await ask(page, LONG_WORD.repeat(4));
        await ask(page, "long");
      },
    },
    {
      name: "right-to-left",
      async take(page) {
        await page.goto(url);
        await ask(page, "هل يمكنني إرجاع المصباح؟");
        await ask(page, "think about the price");
        await page.getByText("Reasoning").click();
      },
    },
    {
      name: "models",
      async take(page) {
        await page.goto(url);
        await page.getByText("support-v3").waitFor();
        await page.getByRole("button", { name: /^Model:/ }).click();
        await page.getByRole("combobox").fill("large");
      },
    },
    {
      name: "settings",
      async take(page) {
        await page.goto(url);
        await page.getByRole("button", { name: "Settings" }).click();
        await page.getByText(/Tools of the agent/).click();
        await page.getByLabel("Temperature").fill("hot");
        await page.getByRole("button", { name: "Save" }).click();
      },
    },
    {
      name: "chat-save-test",
      isDocumented: true,
      take: (page) => saveAsTest(page, { question: returns, dashboard: "http://127.0.0.1:8080" }),
    },
    {
      name: "save-test-error",
      take: (page) => saveAsTest(page, { question: api, dashboard: "no address" }),
    },
    {
      name: "list-narrow",
      width: 360,
      height: 720,
      async take(page) {
        await page.goto(url);
        await ask(page, api);
        await page.getByRole("button", { name: "Conversations" }).click();
        await page.getByRole("button", { name: /^Actions for/ }).click();
      },
    },
    {
      name: "menu",
      async take(page) {
        await page.goto(url);
        await ask(page, api);
        await page.getByRole("button", { name: "More", exact: true }).click();
      },
    },
    {
      name: "no-models",
      async take(page) {
        await page.route("**/v1/models", (route) => route.abort());
        await page.goto(url);
        await page.getByRole("alert").waitFor();
      },
    },
    {
      name: "missing",
      take: async (page) => void await page.goto(`${url}/ui/c/another-browser`),
    },
    {
      name: "demo",
      async take(page) {
        await page.goto(demo.url);
        await page.getByText("demo answers").waitFor();
      },
    },
    {
      name: "key",
      async take(page) {
        await page.goto(locked.url);
        await page.getByLabel("API key").fill("wrong");
        await page.keyboard.press("Enter");
        await page.getByText("did not accept").waitFor();
      },
    },
    {
      name: "edit",
      async take(page) {
        await page.goto(url);
        await ask(page, "A first question");
        await page.getByRole("button", { name: "Ask again" }).click();
        await page.getByText("2 / 2").waitFor();
        await page.getByRole("button", { name: "Send", exact: true }).waitFor();
        await ask(page, "Another question");
        await page.getByRole("button", { name: "Edit message" }).last().click();
      },
    },
    {
      name: "keys",
      width: 1280, // a phone has no button for it
      async take(page) {
        await page.goto(url);
        await page.getByRole("button", { name: "Keys" }).click();
      },
    },
  ];
  return {
    shots,
    async [Symbol.asyncDispose]() {
      for (const service of [agent, demo, locked]) {
        await service[Symbol.asyncDispose]();
      }
    },
  };
}
