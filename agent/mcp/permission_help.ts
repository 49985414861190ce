/**
 * How to give the service a permission that it lacks, such as `--allow-run=npx`. A binary has its
 * permissions built in.
 */
export function explainPermission(flag: string, isBinary = Deno.build.standalone): string {
  return isBinary
    ? `build with: deno task compile ${flag}`
    : `start with: DENO_FLAGS=${flag} deno task agent`;
}
