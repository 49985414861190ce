// The calls of an evaluation and nothing else, for Node: `node bare_loop.mjs BATCH URL ATTEMPTS WIDTH`.
import { readFileSync } from "node:fs";
import process from "node:process";

const [path, url, attempts, width] = process.argv.slice(2);
const scenarios = readFileSync(path, "utf8").trim().split("\n").map((line) => JSON.parse(line));
const conversations = scenarios.flatMap((scenario) => Array(Number(attempts)).fill(scenario));

async function work() {
  for (let next = conversations.pop(); next; next = conversations.pop()) {
    const messages = [];
    for (const { user_message } of next.interactions) {
      messages.push({ role: "user", content: user_message });
      const response = await fetch(`${url}/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "m", messages }),
      });
      const { choices } = await response.json();
      messages.push({ role: "assistant", content: choices[0].message.content });
    }
  }
}

await Promise.all(Array.from({ length: Number(width) }, work));
