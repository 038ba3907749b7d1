import { readStorage, writeStorage } from "../api/storage.ts";

export type Theme = "system" | "light" | "dark";

const SETTING = "trunkline:theme";

/** The colors that the user chose in this browser. */
export function storedTheme(): Theme {
  const stored = readStorage("localStorage", SETTING);
  return stored === "light" || stored === "dark" ? stored : "system";
}

export function chooseTheme(theme: Theme): void {
  writeStorage("localStorage", SETTING, theme);
  applyTheme(theme);
}

export function applyTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}
