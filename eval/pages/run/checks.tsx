import type { CheckResult } from "../../../shared/schemas/checks.ts";
import { Section } from "../frame.tsx";

/** Which checks the reply meets, and why not. */
export function Checks({ results }: { results: CheckResult[] }) {
  return (
    <Section title="Checks">
      <ul class="reasons">
        {results.map(({ name, value, required, reason, scope }, index) => (
          <li key={index}>
            <span class={`badge ${value === 1 ? "good" : value === 0 ? "bad" : "warn"}`}>
              {value === 1 ? "met" : value === 0 ? "not met" : "undecided"}
            </span>
            <span>
              <span dir="auto">{name}</span>
              {required && <span class="muted">, required</span>}
              {scope && <span class="muted">, whole conversation</span>}
              {reason && <div class="muted small" dir="auto">{reason}</div>}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
