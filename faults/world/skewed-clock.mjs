import { readFileSync } from "node:fs";

// Loaded before the service. Shifts its clock by CLOCK_SKEW_MS, or by the current number in the
// file CLOCK_SKEW_FILE, so that it can step. As with a wrong clock, timers and `performance` are
// not shifted.
const { CLOCK_SKEW_MS = 0, CLOCK_SKEW_FILE: file } = process.env;
const skew = () => Number(file === undefined ? CLOCK_SKEW_MS : readFileSync(file, "utf8"));
const RealDate = Date;
const now = () => RealDate.now() + skew();

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(
      target,
      args.length === 0 ? [now()] : args,
      newTarget === globalThis.Date ? target : newTarget,
    ),
  apply: () => new RealDate(now()).toString(),
  get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
});
