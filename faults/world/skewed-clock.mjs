import { readFileSync } from "node:fs";

// Loaded before the service: its clock goes CLOCK_SKEW_MS ahead of (or behind) everybody else's, or by as much as the file CLOCK_SKEW_FILE says
// at the moment, so that it can be made to step. What waits is not shifted, as with a wrong clock, and neither is `performance`.
const { CLOCK_SKEW_MS = 0, CLOCK_SKEW_FILE: file } = process.env;
const skew = () => Number(file === undefined ? CLOCK_SKEW_MS : readFileSync(file, "utf8"));
const TrueDate = Date;
const now = () => TrueDate.now() + skew();

globalThis.Date = new Proxy(TrueDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(
      target,
      args.length === 0 ? [now()] : args,
      newTarget === globalThis.Date ? target : newTarget,
    ),
  apply: () => new TrueDate(now()).toString(),
  get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
});
