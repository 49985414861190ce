import fc from "npm:fast-check@4.10.2";

/**
 * The suite tries the same values each time, so that a change is judged by what it changed.
 * Others are tried by `PROPERTY_SEED` (a number), more of them by `PROPERTY_RUNS`.
 */
fc.configureGlobal({
  seed: Number(Deno.env.get("PROPERTY_SEED") ?? 1),
  numRuns: Number(Deno.env.get("PROPERTY_RUNS") ?? 100),
});

export default fc;
