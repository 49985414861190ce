/** What is used of `@energetic-ai/core`, whose own types name packages that it does not install. */

export interface WeightSpec {
  name: string;
  shape: number[];
  dtype: string;
}

export interface ModelArtifacts {
  modelTopology: unknown;
  weightSpecs: WeightSpec[];
  weightData: ArrayBuffer;
}

export interface GraphModel {
  executeAsync(inputs: unknown): Promise<unknown>;
}

export function ready(): Promise<void>;
export function setWasmPaths(paths: Record<string, string>, usePlatformFetch: boolean): void;
export function loadGraphModel(
  handler: { load: () => Promise<ModelArtifacts> },
): Promise<GraphModel>;
