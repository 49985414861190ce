import type { InteractionResult } from "../../schemas/interaction_result.ts";

/** In words why a reply contradicts its reference; nothing if it does not. */
export function describeContradiction(
  { agreement, wrong_values = [] }: Pick<InteractionResult, "agreement" | "wrong_values">,
): string[] {
  return [
    ...(agreement && agreement.contradicts > 0.5
      ? [`contradicts the reference (${agreement.contradicts.toFixed(2)})`]
      : []),
    ...(wrong_values.length > 0 ? [`wrong value: ${wrong_values.join(", ")}`] : []),
  ];
}
