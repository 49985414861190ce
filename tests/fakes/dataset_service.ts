import { evalService } from "./eval_service.ts";

/** A scenario with everything that a stored one must keep. */
export function scenario(id: string, question = `${id}?`) {
  return {
    id,
    interactions: [{
      id: "1",
      user_message: question,
      agent_reply: "",
      reference_reply: "right",
      interaction_type: "opening",
      reference_metadata: { intent: "ask" },
      generated_metadata: {},
      note: ["kept", { as: "it was" }],
    }],
    description: "",
    team: "blue",
  };
}

/** One scenario per line. */
export const jsonl = (...scenarios: unknown[]) =>
  scenarios.map((one) => `${JSON.stringify(one)}\n`).join("");

/** A service, and what calls it without a socket. */
export function datasetService(options: Parameters<typeof evalService>[1] = {}) {
  const evaluation = evalService(undefined, options);
  const call = async (
    path: string,
    { method = "GET", body, headers = {} }: {
      method?: string;
      body?: BodyInit;
      headers?: Record<string, string>;
    } = {},
  ) => {
    const url = `http://127.0.0.1:8080${path}`;
    const response = await evaluation.service(
      new Request(url, { method, headers, ...(body !== undefined && { body }) }),
    );
    const text = await response.text();
    const isJson = /json$/.test(response.headers.get("content-type") ?? "");
    return { status: response.status, text, json: isJson ? JSON.parse(text) : undefined, response };
  };
  const put = (path: string, body: BodyInit, headers: Record<string, string> = {}) =>
    call(path, { method: "PUT", body, headers });
  return { ...evaluation, call, put };
}
