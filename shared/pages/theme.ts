import { effect, signal } from "@preact/signals";

/** Which colours the page has: the system's, or the person's choice. */
export const THEMES = ["system", "light", "dark"] as const;
export type Theme = typeof THEMES[number];

/** Kept in this browser. */
export const theme = signal<Theme>("system");

const STORED_AS = "assay-theme";

/** Shows the stored theme, and each one that is chosen later. */
export function followTheme(): void {
  const stored = localStorage.getItem(STORED_AS);
  theme.value = THEMES.find((known) => known === stored) ?? "system";
  effect(() => {
    localStorage.setItem(STORED_AS, theme.value);
    if (theme.value === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme.value;
  });
}
