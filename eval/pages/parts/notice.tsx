import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "../../../shared/pages/components/icon.tsx";

/** A name and its value in a list of facts. */
export function Fact({ label, children }: {
  label: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** A remark in a box. */
export function Notice({ tone = "", icon, role, children }: {
  tone?: "warn" | "bad" | "";
  icon?: IconName;
  role?: "alert" | "note";
  children: ComponentChildren;
}) {
  return (
    <div class={`notice ${tone}`} {...(role && { role })}>
      {icon && <Icon name={icon} />}
      <div>{children}</div>
    </div>
  );
}
