/** How long a page is hidden before its stream is closed, in milliseconds. */
const HIDDEN_MS = 5_000;

/** Whether the browser left the page and keeps it for its Back button. */
let isLeft = false;
window.addEventListener("pagehide", () => {
  isLeft = true;
});
window.addEventListener("pageshow", () => {
  isLeft = false;
});

/** Resolves when the page is visible, or when `signal` aborts. */
export async function untilShown(signal: AbortSignal): Promise<void> {
  const isShown = (): boolean => signal.aborted || (!document.hidden && !isLeft);
  if (isShown()) return;
  await new Promise<void>((done) => {
    const listening = new AbortController();
    const check = (): void => {
      if (!isShown()) return;
      listening.abort();
      done();
    };
    const options = { signal: listening.signal };
    document.addEventListener("visibilitychange", check, options);
    window.addEventListener("pageshow", check, options);
    signal.addEventListener("abort", check, options);
  });
}

/** A signal that aborts when the page has been hidden for a while or is left. `release` ends the watch. */
export function watchHidden(): { readonly signal: AbortSignal; release(): void } {
  const hidden = new AbortController();
  const listening = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const check = (): void => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(() => hidden.abort(), HIDDEN_MS);
  };
  document.addEventListener("visibilitychange", check, { signal: listening.signal });
  window.addEventListener("pagehide", () => hidden.abort(), { signal: listening.signal });
  check();
  return {
    signal: hidden.signal,
    release: () => {
      clearTimeout(timer);
      listening.abort();
    },
  };
}
