import type { Logger } from "../../shared/log.ts";
import type { ListedModel, ModelLister } from "../../shared/providers/provider.ts";
import { routeModel } from "../../shared/routing.ts";
import { untilAbort } from "../../shared/abort.ts";

const GOOD_FOR_MS = 60_000;
const PATIENCE_MS = 5_000;

/** Lists the models of the hub that can be routed to it. Never fails: not every hub lists them. */
export type HubModelList = (signal?: AbortSignal) => Promise<ListedModel[]>;

/** Asks the hub at most once a minute, also after a failure; then the last list is served. */
export function createHubModels(
  lister: ModelLister,
  { log, now = Date.now }: { log: Logger; now?: () => number },
): HubModelList {
  let known: Promise<ListedModel[]> | undefined;
  let last: ListedModel[] = [];
  let askedAt = 0;

  async function ask(): Promise<ListedModel[]> {
    try {
      const models = await lister.listModels({ signal: AbortSignal.timeout(PATIENCE_MS) });
      last = models.filter(({ id }) => routeModel(id).target === "hub");
    } catch (error) {
      log.warn("the hub does not list its models", { error });
    }
    return last;
  }

  return (signal) => {
    if (!known || now() - askedAt >= GOOD_FOR_MS) {
      askedAt = now();
      known = ask();
    }
    return untilAbort(known, signal);
  };
}
