import { fine, problem, type Finding } from "./finding.ts";

const PATIENCE_MS = 5_000;

/** Whether a service of ours answers at the address others are to reach it by. */
export async function lookAtAddress(publicUrl: string): Promise<Finding> {
  const about = "public url";
  const advice =
    "Let PUBLIC_URL and what stands in front of the service lead to it. Where only this machine cannot reach it, call without PUBLIC_URL.";
  try {
    const answer = await fetch(`${publicUrl.replace(/\/$/, "")}/healthz`, {
      redirect: "manual",
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const isOurs = answer.ok && (await answer.text()) === '{"status":"ok"}';
    if (isOurs) return fine(about, `The service answers at ${publicUrl}.`);
    return problem(about, `What answers at ${publicUrl} is not the service (${answer.status}).`, advice);
  } catch {
    return problem(about, `Nothing answers at ${publicUrl}.`, advice);
  }
}
