// Loaded before the service: each of its calls says which process sent it and when it left the service's hands, by the clock that is not skewed. On a busy machine it may be
// a second before the forge, which is in the harness's process, comes to look at it.
const { fetch } = globalThis;

globalThis.fetch = (url, init) => {
  const headers = new Headers(init?.headers);
  headers.set("x-sent-by", String(process.pid));
  headers.set("x-sent-at", String(Math.round(performance.timeOrigin + performance.now())));
  return fetch(url, { ...init, headers });
};
