// Loaded before the service. Adds the process id and the time to each call, measured by a clock
// that the faults do not change. On a busy machine the forge, in the harness's process, may read a
// call a second later.
const { fetch } = globalThis;

globalThis.fetch = (url, init) => {
  const headers = new Headers(init?.headers);
  headers.set("x-sent-by", String(process.pid));
  headers.set("x-sent-at", String(Math.round(performance.timeOrigin + performance.now())));
  return fetch(url, { ...init, headers });
};
