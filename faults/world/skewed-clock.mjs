// Loaded before the service: its clock goes CLOCK_SKEW_MS ahead of (or behind) everybody else's. What waits is not shifted, as with a wrong clock.
const skew = Number(process.env.CLOCK_SKEW_MS ?? 0);
const TrueDate = Date;
const now = () => TrueDate.now() + skew;

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
