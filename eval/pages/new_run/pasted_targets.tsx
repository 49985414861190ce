import { asFields, asText } from "../../../shared/fields.ts";

/** The models of a pasted request that names each with its endpoint: the form has no fields for that. */
export function PastedTargets({ targets }: { targets: unknown[] }) {
  return (
    <div class="field">
      <span>Models of the pasted request</span>
      <ul class="reasons">
        {targets.map(asFields).map(({ name, model_id, endpoint }, index) => (
          <li key={index} dir="auto">
            <span>
              {asText(name) ?? asText(model_id) ?? "unnamed"}{" "}
              <span class="muted small">{asText(endpoint)}</span>
            </span>
          </li>
        ))}
      </ul>
      <span class="field-hint">They run side by side as a group</span>
    </div>
  );
}
