import { assertEquals } from "@std/assert";
import { openStore } from "../../../eval/store/open_store.ts";
import { providerError } from "../../fakes/eval_ports.ts";
import { evalService, evaluateBody, evaluateWith } from "../../fakes/eval_service.ts";

const turn = (user_message: string, checks?: unknown[]) => ({
  id: user_message,
  user_message,
  reference_reply: "right",
  ...(checks && { checks }),
});
const required = { type: "contains", value: "right", required: true };

/** Each with a call that fails, and a mean that reaches the threshold all the same. */
const SCENARIOS: [scenario: Record<string, unknown>, standing: string][] = [
  [{ interactions: [turn("fail", [required]), turn("right")] }, "missing"],
  [{ interactions: [turn("fail"), turn("right")], checks: [required] }, "missing"],
  [{ interactions: [turn("right"), turn("fail")], conversation_checks: [required] }, "missing"],
  [{ interactions: [turn("fail"), turn("right")], conversation_checks: [required] }, "passed"],
  [{ interactions: [turn("fail"), turn("right", [required])] }, "passed"],
  [{ interactions: [turn("fail", [{ ...required, required: false }]), turn("right")] }, "passed"],
];

Deno.test("an attempt whose failed call had a required check has no standing, as in the pass rate", async () => {
  const store = await openStore({ path: ":memory:" });
  const { service } = evalService((conversation) => {
    const asked = conversation.at(-1)!.content;
    if (asked === "fail") throw providerError(500);
    return asked;
  }, { store });
  const test_batch = SCENARIOS.map(([scenario], index) => ({ id: `s${index}`, ...scenario }));
  const { run_id, results } = await evaluateWith(
    service,
    evaluateBody({ test_batch, attempts: 1, pass_threshold: 0.4 }),
  );
  const get = async (path: string) =>
    await (await service(new Request(`http://127.0.0.1:8080/runs/${run_id}${path}`))).json();
  const standings = (await get("/scenarios")).scenarios.map((
    { attempts }: { attempts: { standing: string }[] },
  ) => attempts[0]!.standing);
  assertEquals(standings, SCENARIOS.map(([, standing]) => standing));
  assertEquals(results.scenarios.map(({ pass_rate_missing }) => pass_rate_missing), [
    1,
    1,
    1,
    0,
    0,
    0,
  ]);
  const failed = (await get("/turns?outcome=failed")).turns;
  assertEquals(
    failed.map(({ may_be_barred }: { may_be_barred?: true }) => may_be_barred ?? false),
    [true, true, true, false, false, false],
  );
  await store.close();
});
