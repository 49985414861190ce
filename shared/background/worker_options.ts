/** For workers that only compute: no files, no network, no environment. */
export const COMPUTE_ONLY = {
  type: "module",
  deno: { permissions: { read: false, write: false, net: false, env: false, run: false } },
} as const;
