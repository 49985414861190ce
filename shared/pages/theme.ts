import { effect, signal } from "@preact/signals";
import { keepText, readText } from "./storage.ts";

/** Which colours the page has: the system's, or the person's choice. */
export const THEMES = ["system", "light", "dark"] as const;
export type Theme = typeof THEMES[number];

const STORED_AS = "assay-theme";

/** Kept in this browser. */
export const theme = signal<Theme>("system");

/** Shows the stored theme, and each one that is chosen later. */
export function followTheme(): void {
  const stored = readText(() => localStorage, STORED_AS);
  theme.value = THEMES.find((known) => known === stored) ?? "system";
  effect(() => {
    keepText(() => localStorage, STORED_AS, theme.value);
    if (theme.value === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme.value;
  });
}
