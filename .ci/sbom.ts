// deno-lint-ignore-file no-console -- a script speaks to its terminal
/**
 * Writes what is in the binaries as CycloneDX 1.6: every package of `deno.lock` with its checksum.
 * `deno run --allow-read=deno.lock,deno.json .ci/sbom.ts > sbom.cdx.json`
 */
import { Buffer } from "node:buffer";

interface Locked {
  integrity: string;
}

/** `@scope/name@1.2.3_peer@4` → its name and version. */
function nameOf(key: string): [name: string, version: string] {
  const at = key.indexOf("@", 1);
  return [key.slice(0, at), key.slice(at + 1).replace(/_.*$/, "")];
}

function toComponent(key: string, { integrity }: Locked) {
  const [name, version] = nameOf(key);
  const [algorithm = "", hash = ""] = integrity.split(/-(.*)/);
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  return {
    type: "library",
    "bom-ref": purl,
    name,
    version,
    purl,
    hashes: [{
      alg: algorithm.replace("sha", "SHA-"),
      content: Buffer.from(hash, "base64").toString("hex"),
    }],
  };
}

/** The document for a version of the lock. A package with several sets of peers is listed once. */
export function toSbom(lock: { npm: Record<string, Locked> }, version: string) {
  const components = Object.entries(lock.npm).map(([key, locked]) => toComponent(key, locked));
  const byRef = new Map(components.map((component) => [component["bom-ref"], component]));
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: { type: "application", "bom-ref": "assay", name: "assay", version } },
    components: [...byRef.values()],
  };
}

if (import.meta.main) {
  const { version } = JSON.parse(Deno.readTextFileSync("deno.json"));
  const lock = JSON.parse(Deno.readTextFileSync("deno.lock"));
  console.log(JSON.stringify(toSbom(lock, version), null, 2));
}
