import { useEffect, useState } from "react";
import { distance } from "./distance.ts";

/** A time as a distance, such as `3 hours ago`; the exact time is in its tooltip. Updated every minute. */
export function Ago({ at }: { readonly at: string }) {
  const now = useNow();
  return (
    <time dateTime={at} title={exactTime(at)}>
      {distance(at, now)}
    </time>
  );
}

export const exactTime = (at: string): string =>
  new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium" }).format(new Date(at));

function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 60_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
