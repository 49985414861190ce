import type { ButtonHTMLAttributes, ComponentChildren } from "preact";
import { Icon, type IconName } from "./icon.tsx";

export interface ButtonProps extends Omit<ButtonHTMLAttributes, "icon" | "type"> {
  /** `primary` for the one action that a view is about. */
  kind?: "primary" | "plain" | "quiet" | "danger";
  icon?: IconName;
  isSmall?: boolean;
  type?: "button" | "submit";
  children?: ComponentChildren;
}

/** A button. Without text it needs `aria-label`, which is also shown as its title. */
export function Button(
  { kind = "plain", icon, isSmall, type = "button", children, ...more }: ButtonProps,
) {
  const classes = ["button", kind, isSmall && "small", !children && "icon-only"];
  const label = more["aria-label"];
  return (
    <button
      type={type}
      class={classes.filter(Boolean).join(" ")}
      {...(!children && typeof label === "string" && { title: label })}
      {...more}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/**
 * A quiet button that is only a picture. Its label is read aloud, and shown as its title. In a wide
 * header it also has `text`, which the label begins with.
 */
export function IconButton(
  { label, text, ...more }: ButtonProps & { icon: IconName; label: string; text?: string },
) {
  return (
    <Button kind="quiet" aria-label={label} title={label} {...more}>
      {text && <span class="icon-text">{text}</span>}
    </Button>
  );
}
