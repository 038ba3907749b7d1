import { Ago } from "../../text/time.tsx";

const SOON_MS = 60_000;

/** When a failed delivery is repeated. The page is read again more often than this changes. */
export const NextAttempt = ({ at }: { readonly at: string }) =>
  Date.parse(at) - Date.now() < SOON_MS ? (
    <>Next attempt within a minute.</>
  ) : (
    <>
      Next attempt <Ago at={at} />.
    </>
  );
