import { type Forge } from "../../forge/forge.ts";
import { ForgeUnavailable, type ForgeInstallation } from "../../forge/values.ts";
import { isTranslated } from "../../forge/github/deliveries/translate-delivery.ts";
import { WEBHOOK_PATH } from "../../app.ts";
import { fine, problem, warning, type Finding } from "./finding.ts";

/** GitHub refuses what was signed more than a minute off; its own clock is told to the second. */
const MOST_SKEW_SECONDS = 30;

/** Those of these deliveries that were never kept here. */
export type ListMissing = (guids: readonly string[]) => Promise<ReadonlySet<string>>;

/** The App as the forge has it, its webhook, and the accounts that have installed it. */
export async function lookAtForge(
  forge: Forge,
  publicUrl: string | undefined,
  listMissing: ListMissing,
): Promise<Finding[]> {
  const app = await orProblem("app", UNREACHABLE, () => lookAtApp(forge));
  if (app.some(({ about, state }) => about === "app" && state === "problem")) return app;
  return [
    ...app,
    ...(await orProblem("webhook", LATER, () => lookAtWebhook(forge, publicUrl, listMissing))),
    ...(await orProblem("installations", LATER, () => lookAtInstallations(forge))),
  ];
}

const LATER = "Ask again in a moment.";
const UNREACHABLE =
  "Compare APP_ID, PRIVATE_KEY and GHE_HOST with the App's settings; is the forge reachable from here?";

async function orProblem(about: string, advice: string, look: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await look();
  } catch (error) {
    return [problem(about, wordsOf(error), advice)];
  }
}

async function lookAtApp(forge: Forge): Promise<Finding[]> {
  const { slug, missingPermissions, missingEvents, clockSkewSeconds } = await forge.app();
  const found = [fine("app", `The forge knows the App as ${slug} and accepts its key.`)];
  for (const permission of missingPermissions) {
    const advice = "Add it in the App's settings, under Permissions; each account is asked to accept it.";
    found.push(problem("permissions", `The App does not ask for ${permission}.`, advice));
  }
  for (const event of missingEvents) {
    const advice = "Tick it in the App's settings, under Subscribe to events.";
    found.push(problem("events", `The App is not sent ${event}.`, advice));
  }
  if (clockSkewSeconds !== null && Math.abs(clockSkewSeconds) > MOST_SKEW_SECONDS) {
    const says = `This clock is ${Math.abs(clockSkewSeconds)} seconds ${clockSkewSeconds > 0 ? "ahead of" : "behind"} the forge's.`;
    found.push(warning("clock", says, "Let the machine keep its time with NTP."));
  } else found.push(fine("clock", "This clock and the forge's agree."));
  return found;
}

async function lookAtWebhook(
  forge: Forge,
  publicUrl: string | undefined,
  listMissing: ListMissing,
): Promise<Finding[]> {
  const settings = "Mend it in the App's settings, under Webhook.";
  const { url, isJson, hasSecret } = await forge.webhook();
  const wanted = publicUrl === undefined ? undefined : `${publicUrl.replace(/\/$/, "")}${WEBHOOK_PATH}`;
  const found: Finding[] = [];
  if (url === null) {
    const advice = `Set ${wanted ?? `https://<host>${WEBHOOK_PATH}`}.`;
    found.push(problem("webhook", "The App has no webhook URL.", advice));
  } else if (wanted !== undefined ? url !== wanted : !url.endsWith(WEBHOOK_PATH)) {
    found.push(
      problem("webhook", `Webhooks go to ${url}, not to ${wanted ?? `…${WEBHOOK_PATH}`}.`, settings),
    );
  } else found.push(fine("webhook", `Webhooks go to ${url}.`));
  if (!isJson) found.push(problem("webhook", "Webhooks are not sent as JSON.", settings));
  if (!hasSecret) {
    found.push(
      problem("webhook", "The App has no webhook secret.", "Set WEBHOOK_SECRET's value there, too."),
    );
  }
  return [...found, ...(await lookAtDeliveries(forge, listMissing))];
}

/** Whether the secrets agree is seen only by what came of deliveries. */
async function lookAtDeliveries(forge: Forge, listMissing: ListMissing): Promise<Finding[]> {
  const { attempts } = await forge.deliveryLog(null);
  const [newest] = attempts;
  if (!newest)
    return [
      fine("deliveries", "The forge has sent none yet: whether the webhook secrets agree is not seen."),
    ];
  const failed = attempts.filter(({ isOk }) => !isOk);
  if (failed.length === 0)
    return [fine("deliveries", `Of the forge's last ${attempts.length} deliveries all were taken.`)];
  const says = `Of the forge's last ${attempts.length} deliveries ${failed.length} were not taken.`;
  if (newest.isOk) {
    const worked = failed.filter(({ event }) => isTranslated(event));
    const missing = await listMissing(worked.map(({ guid }) => guid));
    if (missing.size === 0) return [fine("deliveries", `${says} Nothing of that is missing any more.`)];
    return [warning("deliveries", says, "The newest was, so what is missing is taken in within minutes.")];
  }
  const then = "then redeliver one, in the App's settings under Advanced, and call again.";
  if (newest.isUnsigned) {
    const differs = `${says} The newest was answered 401: the App's webhook secret is not the running service's.`;
    const advice = `Set both to the same value (WEBHOOK_SECRET here), restart the service, ${then}`;
    return [problem("webhook secret", differs, advice)];
  }
  const words = `${says} The newest: ${newest.ended}.`;
  return [problem("deliveries", words, `Let the webhook URL lead to the service, ${then}`)];
}

async function lookAtInstallations(forge: Forge): Promise<Finding[]> {
  const installations = await forge.installations();
  if (installations.length > 0) return installations.flatMap(lookAtInstallation);
  return [warning("installations", "No account has installed the App.", "Install it from the App's page.")];
}

function lookAtInstallation({ account, suspended, missingPermissions }: ForgeInstallation): Finding[] {
  const about = `installation ${account.login}`;
  if (suspended) {
    return [
      warning(about, "It is suspended.", "Its owner can unsuspend it in its settings, under GitHub Apps."),
    ];
  }
  if (missingPermissions.length === 0) return [fine(about, "It grants all that is needed.")];
  const advice = "Its owner accepts the App's new permissions in its settings, under GitHub Apps.";
  return missingPermissions.map((permission) => problem(about, `It does not grant ${permission}.`, advice));
}

/** The words of a failure and, for a call to the forge, what exactly failed: route and status, nothing of the request. */
function wordsOf(error: unknown): string {
  if (!(error instanceof ForgeUnavailable)) return error instanceof Error ? error.message : "It failed.";
  return error.cause instanceof Error ? `${error.message} (${error.cause.message}).` : `${error.message}.`;
}
