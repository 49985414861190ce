import { z } from "zod";
import { AppError, isAbort } from "../../shared/service/errors.ts";
import { extendAddress } from "../../shared/http/outgoing_fetch.ts";
import { MAX_MODELS, parseModels } from "../../shared/providers/openai_messages.ts";
import { parseJsonAnswer } from "../../shared/providers/openai_answer.ts";
import { baseAddresses, namesApi } from "./endpoint_address.ts";
import type { EndpointPolicy } from "./policy.ts";

export const EndpointModel = z.object({
  id: z.string(),
  /** What the endpoint calls it, if that is not its id. */
  name: z.string().optional(),
  shutdown_date: z.string().optional().meta({
    description: "When it will no longer answer, as its provider says it.",
  }),
}).meta({ id: "EndpointModel" });
export type EndpointModel = z.infer<typeof EndpointModel>;

export const EndpointModels = z.object({
  models: z.array(EndpointModel),
  /** Set if the endpoint lists more models. */
  is_cut: z.literal(true).optional(),
}).meta({ id: "EndpointModels" });

/**
 * The models that an endpoint lists, in its order; none if it has no list. Throws 403 for an endpoint
 * that may not be evaluated, and 502 for one that cannot be reached.
 */
export type ListEndpointModels = (
  endpoint: string,
  signal: AbortSignal,
) => Promise<z.infer<typeof EndpointModels>>;

const TIMEOUT_MS = 10_000;

/** Longer ids are left out. */
const LONGEST_ID = 256;
const ByName = z.record(z.string(), z.string().min(1));

/** An agent's list of its fine-tuned models, by name. */
const AGENT_LIST = "/studio/models";

/** A list as OpenAI and others have it, or that of an agent. */
function parseList(body: unknown, url: string): EndpointModel[] | undefined {
  const isAgent = new URL(url).pathname.endsWith(AGENT_LIST);
  const byName = isAgent ? ByName.safeParse(body).data : undefined;
  const models: EndpointModel[] | undefined = byName
    ? Object.entries(byName).map(([name, id]) => ({ id, name }))
    : parseModels(body)?.map(({ id, shutdownDate }) => ({
      id,
      ...(shutdownDate && { shutdown_date: shutdownDate }),
    }));
  return models?.filter(({ id }) => id.length <= LONGEST_ID);
}

/** `fetchFor` gives the fetch that may reach an endpoint; see `EndpointPolicy`. */
export function createEndpointModels(
  { endpoints, fetchFor }: {
    endpoints: Pick<EndpointPolicy, "credentialFor" | "requireAllowed" | "requireReachable">;
    fetchFor: (endpoint: string) => typeof fetch;
  },
): ListEndpointModels {
  async function read(url: string, signal: AbortSignal): Promise<EndpointModel[] | undefined> {
    const credential = endpoints.credentialFor(url);
    const response = await fetchFor(url)(url, {
      headers: {
        accept: "application/json",
        ...(credential !== undefined && { authorization: `Bearer ${credential}` }),
      },
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    const body = parseJsonAnswer(await response.arrayBuffer())?.value;
    return response.ok ? parseList(body, url) : undefined;
  }

  return async (endpoint, signal) => {
    endpoints.requireAllowed(endpoint);
    await endpoints.requireReachable(endpoint);
    const lists: EndpointModel[][] = [];
    try {
      for (const url of listUrls(endpoint)) {
        const found = await read(url, signal);
        if (found) lists.push(found);
      }
    } catch (error) {
      if (error instanceof AppError || (isAbort(error) && signal.aborted)) throw error;
      const { origin } = new URL(endpoint);
      const reason = "it cannot be reached, or its answer cannot be read";
      throw new AppError(502, "provider_error", `cannot list the models of ${origin}: ${reason}`, {
        cause: error,
      });
    }
    const unique = new Map(lists.flat().map((model) => [model.id, model]));
    const models = [...unique.values()].slice(0, MAX_MODELS);
    return { models, ...(unique.size > MAX_MODELS && { is_cut: true }) };
  };
}

/** Where an endpoint may list its models: as it is asked for replies, and as an agent. */
function listUrls(endpoint: string): string[] {
  const bases = baseAddresses(endpoint).map((base) => extendAddress(base, "/models"));
  return namesApi(endpoint) ? bases : [...bases, extendAddress(endpoint, AGENT_LIST)];
}
