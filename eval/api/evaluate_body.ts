import { z } from "zod";
import { AppError, invalidField } from "../../shared/errors.ts";
import { type BodyLimits, checkBody, readJsonValue } from "../../shared/http/body/body.ts";
import { type EvaluateRequest, evaluateRequest, requestOf } from "../schemas/evaluate_request.ts";
import { type NamedTarget, severalModels } from "../schemas/targets.ts";
import {
  DatasetReference,
  loadScenarios,
  nameVersion,
  requireVersion,
} from "../datasets/find_version.ts";
import type { DatasetReader } from "../store/datasets/datasets.ts";

export interface ReadEvaluation {
  request: EvaluateRequest;
  /** The body as it identifies a request: a dataset by the name that was sent. */
  sent: unknown;
  /** The dataset's name, if the request names one. */
  dataset?: string;
  /** If the body names several models: all of them. The request is that of the first. */
  targets?: NamedTarget[];
}

/** What a body may ask for. */
interface EvaluationLimits {
  maxAttempts: number;
  maxTargets: number;
}

/** Reads the body of `POST /evaluate`, which has a batch or names a dataset. */
export function createBodyReader(
  { maxAttempts, maxTargets }: EvaluationLimits,
  reader: DatasetReader,
) {
  const WithBatch = evaluateRequest(maxAttempts);
  const WithDataset = requestOf({
    ...WithBatch.shape,
    dataset: DatasetReference,
    test_batch: z.undefined({ error: "must not be sent together with dataset" }).optional(),
  });

  return async (request: Request, limits: BodyLimits): Promise<ReadEvaluation> => {
    const value = await readJsonValue(request, limits);
    const Several = severalModels(value, maxTargets);
    if (!Several) return await readOne(value, limits);
    const { targets, first } = checkBody(value, Several);
    return { ...await readOne(first, limits), sent: value, targets };
  };

  async function readOne(value: unknown, limits: BodyLimits): Promise<ReadEvaluation> {
    if (!namesDataset(value)) {
      const body = checkBody(value, WithBatch);
      return { request: body, sent: body };
    }
    const { dataset: wanted, test_batch: _, ...fields } = checkBody(value, WithDataset);
    const version = await requireVersion(reader, wanted).catch(refuse);
    if (version.bytes > limits.maxBytes) {
      throw new AppError(
        413,
        "body_too_large",
        `cannot run ${nameVersion(version)}: it has ${version.bytes} bytes, and the batch of a ` +
          `run may have ${limits.maxBytes} (MAX_BODY_BYTES)`,
      );
    }
    const test_batch = await loadScenarios(reader, version);
    return {
      request: { ...fields, test_batch, dataset: nameVersion(version) } as EvaluateRequest,
      sent: value,
      dataset: version.name,
    };
  }
}

function namesDataset(value: unknown): boolean {
  return typeof value === "object" && value !== null && "dataset" in value;
}

/** A dataset that is not there is a wrong field of the body, not a wrong address. */
function refuse(error: unknown): never {
  if (!(error instanceof AppError) || error.code !== "not_found") throw error;
  throw invalidField("dataset", error.message);
}
