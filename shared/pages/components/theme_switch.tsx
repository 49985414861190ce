import { effect, signal } from "@preact/signals";
import { keepText, readText } from "../storage.ts";
import { IconButton } from "./button.tsx";

/** Which colours the page has: the system's, or the person's choice. */
const THEMES = ["system", "light", "dark"] as const;
const ICONS = { system: "monitor", light: "sun", dark: "moon" } as const;
const STORED_AS = "assay-theme";

const theme = signal<typeof THEMES[number]>("system");

/** Shows the theme that this browser has stored, and each one that is chosen later. */
export function followTheme(): void {
  const stored = readText(() => localStorage, STORED_AS);
  theme.value = THEMES.find((known) => known === stored) ?? "system";
  effect(() => {
    keepText(() => localStorage, STORED_AS, theme.value);
    if (theme.value === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme.value;
  });
}

/** Goes through the themes: the system's, light, dark. */
export function ThemeSwitch() {
  const next = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!;
  return (
    <IconButton
      icon={ICONS[theme.value]}
      text="Theme"
      label={`Theme: ${theme.value}. Change to ${next}`}
      onClick={() => theme.value = next}
    />
  );
}
