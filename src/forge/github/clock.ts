/** Time, in milliseconds, as the adapter needs it: to wait, and to know when to stop waiting. */
export interface ForgeClock {
  now(): number;
  sleep(ms: number): Promise<void>;
}

export const systemClock: ForgeClock = {
  now: () => Date.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};
