/** `localStorage` is for this browser, `sessionStorage` for this tab. */
type StorageName = "localStorage" | "sessionStorage";

/** Null if nothing is stored, or if the browser forbids storage. */
export function readStorage(storage: StorageName, key: string): string | null {
  try {
    return window[storage].getItem(key);
  } catch {
    return null;
  }
}

/** Null removes the value. Does nothing if storage is full or forbidden. */
export function writeStorage(storage: StorageName, key: string, value: string | null): void {
  try {
    if (value === null) window[storage].removeItem(key);
    else window[storage].setItem(key, value);
  } catch {
    // The page works without it.
  }
}
