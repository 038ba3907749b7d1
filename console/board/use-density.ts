import { useState } from "react";
import { readStorage, writeStorage } from "../api/storage.ts";

const NAME = "trunkline:density";

type Density = "comfortable" | "compact";

/** How much room the cards of boards take in this browser. */
export function useDensity(): { readonly value: Density; readonly toggle: () => void } {
  const [value, setValue] = useState<Density>(
    readStorage("localStorage", NAME) === "compact" ? "compact" : "comfortable",
  );
  const toggle = (): void => {
    const next = value === "compact" ? "comfortable" : "compact";
    writeStorage("localStorage", NAME, next === "compact" ? next : null);
    setValue(next);
  };
  return { value, toggle };
}
