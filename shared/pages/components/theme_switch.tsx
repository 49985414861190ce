import { type Theme, theme, THEMES } from "../theme.ts";
import { Button } from "./button.tsx";
import type { IconName } from "./icon.tsx";

const ICONS: Record<Theme, IconName> = { system: "monitor", light: "sun", dark: "moon" };

/** Goes through the themes: the system's, light, dark. */
export function ThemeSwitch() {
  const next = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!;
  return (
    <Button
      kind="quiet"
      icon={ICONS[theme.value]}
      aria-label={`Theme: ${theme.value}. Change to ${next}`}
      onClick={() => theme.value = next}
    />
  );
}
