import { assert, assertEquals } from "@std/assert";
import { completion, type ReceivedRequest, startProviderDouble } from "../fakes/provider_double.ts";
import { type ServiceProcess, startServiceProcess } from "../fakes/service_process.ts";

/** Checks, expected tools, prices, both histories and a dataset across real kills of the service. */

const SCENARIOS = 8;

const TURNS = ["one", "two", "three"];

const dataset = {
  test_batch: Array.from({ length: SCENARIOS }, (_, index) => ({
    id: `s${index}`,
    checks: [{ type: "contains", value: "reply" }, {
      type: "regex",
      value: "^reply",
      required: true,
    }],
    conversation_checks: [{ type: "max_output_tokens", value: 1_000 }],
    interactions: TURNS.map((name) => ({
      id: name,
      user_message: `${index} ${name}`,
      reference_reply: `reference ${name}`,
      reference_tools: [{ name: "look", args: { at: { $regex: name } } }],
    })),
  })),
};

/** The reply and the arguments of the called tool depend on the conversation. */
function answer(request: ReceivedRequest) {
  const { messages } = request.body as { messages: { content: string }[] };
  const at = messages.map(({ content }) => content).join(" / ");
  return completion({
    content: `reply to ${at}`,
    toolCalls: [{ name: "look", arguments: JSON.stringify({ at }) }],
  })(request);
}

async function start(service: ServiceProcess, endpoint: string): Promise<string> {
  const json = { "content-type": "application/json" };
  const stored = await fetch(`${service.url}/datasets/support`, {
    method: "PUT",
    headers: json,
    body: JSON.stringify(dataset),
  });
  assert(stored.ok, await stored.text());
  const body = { endpoint, model_id: "acme/model", history: "reference", dataset: "support" };
  const response = await fetch(`${service.url}/evaluate`, {
    method: "POST",
    headers: { ...json, prefer: "respond-async" },
    body: JSON.stringify(body),
  });
  assertEquals(response.status, 202);
  return (await response.json()).run_id;
}

/** Waits for the run's last event. */
async function resultOf(service: ServiceProcess, id: string) {
  const text = await (await fetch(`${service.url}/runs/${id}/events`)).text();
  const [, data] = /event:result\nid:end\ndata:(.*)\n\n$/.exec(text) ?? [];
  const hidden = ["run_id", "latency_ms", "execution_time_ms"];
  return JSON.parse(data!, (key, item) => hidden.includes(key) ? 0 : item);
}

Deno.test("checks, tools, costs, the reference history and a dataset survive a kill as in an undisturbed run", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await using endpoint = await startProviderDouble(answer);
    const environment = {
      EVAL_DATA: `${folder}/eval.db`,
      EVAL_CONCURRENCY: "4",
      PRICES: '{"acme/*": {"input": 1, "output": 2}}',
    };
    let id = "";
    {
      await using doomed = await startServiceProcess("eval", { environment });
      id = await start(doomed, endpoint.baseUrl);
      await endpoint.received(SCENARIOS);
      doomed.kill("SIGKILL");
      await doomed.status;
    }
    await using service = await startServiceProcess("eval", { environment });
    const survived = await resultOf(service, id);
    const undisturbed = await resultOf(service, await start(service, endpoint.baseUrl));
    assertEquals(survived, undisturbed);

    const { results } = survived;
    assert(/^support@[0-9a-f]{32}$/.test(survived.dataset), survived.dataset);
    assertEquals(results.scenarios[0].attempts.length, 1);
    assertEquals(results.cost.turns, SCENARIOS * 3);
    assertEquals(results.average_scores.tools, 1);
    assert(results.check_counts.every(({ failed }: { failed: number }) => failed === 0));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
