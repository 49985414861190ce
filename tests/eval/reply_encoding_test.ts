import { assertEquals } from "@std/assert";
import { endpointTarget } from "../fakes/endpoint_target.ts";
import { evalService, evaluateBody, evaluateWith } from "../fakes/eval_service.ts";
import { completionBody, raw, startProviderDouble } from "../fakes/provider_double.ts";

/** JSON in Latin-1. */
function latin1(body: unknown): Uint8Array<ArrayBuffer> {
  return Uint8Array.from([...JSON.stringify(body)].map((character) => character.charCodeAt(0)));
}

const ANSWERS = { openai: completionBody({ content: "grün" }), agent: { content: "grün" } };

for (const protocol of ["openai", "agent"] as const) {
  Deno.test(`a reply of an ${protocol} endpoint that is not UTF-8 is marked in its turn`, async () => {
    await using double = await startProviderDouble([
      raw(latin1(ANSWERS[protocol]), { headers: { "content-type": "application/json" } }),
      raw(JSON.stringify(ANSWERS[protocol])),
    ]);
    const { service } = evalService(undefined, { target: endpointTarget(protocol, double) });
    const { results } = await evaluateWith(service, evaluateBody({ attempts: 2 }));
    const replies = results.scenarios[0]!.attempts.map(({ interactions }) => interactions[0]!)
      .map(({ agent_reply, reply_encoding }) => ({ agent_reply, reply_encoding }));
    assertEquals(
      new Set(replies),
      new Set([
        { agent_reply: "gr\uFFFDn", reply_encoding: "not utf-8" },
        { agent_reply: "grün", reply_encoding: undefined },
      ]),
    );
  });
}
