import { useEffect } from "react";

/** The title of the browser's tab: what the page shows, then the product. */
export function useTitle(...parts: readonly string[]): void {
  const title = [...parts, "Trunkline"].join(" · ");
  useEffect(() => {
    document.title = title;
  }, [title]);
}
