/** Time, in milliseconds, as the adapter needs it: to wait, and to know when to stop waiting. It never steps, as the system's may. */
export interface ForgeClock {
  now(): number;
  sleep(ms: number): Promise<void>;
}

export const systemClock: ForgeClock = {
  now: () => performance.timeOrigin + performance.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};
