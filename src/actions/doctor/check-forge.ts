import { type Forge } from "../../forge/forge.ts";
import { ForgeUnavailable, type ForgeInstallation } from "../../forge/values.ts";
import { isTranslated } from "../../forge/github/deliveries/translate-delivery.ts";
import { fine, problem, warning, type Finding } from "./finding.ts";

/** GitHub refuses tokens that are signed more than a minute off. Its Date header has seconds. */
const MOST_SKEW_SECONDS = 30;

/** Returns those of these deliveries that are not stored. */
export type ListMissing = (guids: readonly string[]) => Promise<ReadonlySet<string>>;

/** Where GitHub's webhooks should go. */
export interface WebhookPlace {
  /** Of the service, without a trailing slash; null if it is not known. */
  readonly publicUrl: string | null;
  readonly path: string;
}

/** Checks the App's settings on GitHub, its webhook, and its installations. */
export async function checkForge(
  forge: Forge,
  place: WebhookPlace,
  listMissing: ListMissing,
): Promise<Finding[]> {
  const app = await orProblem("app", UNREACHABLE, () => checkApp(forge));
  if (app.some(({ about, state }) => about === "app" && state === "problem")) return app;
  return [
    ...app,
    ...(await orProblem("webhook", LATER, () => checkWebhook(forge, place, listMissing))),
    ...(await orProblem("graphql", LATER, () => checkGraphql(forge))),
    ...(await orProblem("installations", LATER, () => checkInstallations(forge))),
  ];
}

const LATER = "Run doctor again in a moment.";
const UNREACHABLE =
  "Check that this machine can reach GitHub, and compare APP_ID, PRIVATE_KEY and GHE_HOST with the App's settings.";

async function orProblem(about: string, advice: string, check: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await check();
  } catch (error) {
    return [problem(about, messageOf(error), advice)];
  }
}

async function checkApp(forge: Forge): Promise<Finding[]> {
  const { slug, missingPermissions, missingEvents, missingOptionalEvents, clockSkewSeconds } =
    await forge.app();
  const found = [fine("app", `GitHub accepts the key of the App ${slug}.`)];
  for (const permission of missingPermissions) {
    const advice = "Add it in the App's settings, under Permissions. Each account must then accept it.";
    found.push(problem("permissions", `The App does not request ${permission}.`, advice));
  }
  for (const event of missingEvents) {
    const advice = "Select it in the App's settings, under Subscribe to events.";
    found.push(problem("events", `The App is not subscribed to ${event}.`, advice));
  }
  for (const event of missingOptionalEvents) {
    const advice =
      "Select it in the App's settings, under Subscribe to events, so that a renamed account is noticed at once.";
    found.push(warning("events", `The App is not subscribed to ${event}.`, advice));
  }
  if (clockSkewSeconds !== null && Math.abs(clockSkewSeconds) > MOST_SKEW_SECONDS) {
    const message = `The clock of this machine is ${Math.abs(clockSkewSeconds)} seconds ${clockSkewSeconds > 0 ? "ahead of" : "behind"} GitHub's.`;
    found.push(warning("clock", message, "Synchronize the clock with NTP."));
  } else found.push(fine("clock", "The clock of this machine agrees with GitHub's."));
  return found;
}

async function checkWebhook(
  forge: Forge,
  { publicUrl, path }: WebhookPlace,
  listMissing: ListMissing,
): Promise<Finding[]> {
  const settings = "Correct it in the App's settings, under Webhook.";
  const { url, isJson, hasSecret } = await forge.webhook();
  const wanted = publicUrl === null ? null : `${publicUrl}${path}`;
  const found: Finding[] = [];
  if (url === null) {
    const advice = `Set ${wanted ?? `https://<host>${path}`}.`;
    found.push(problem("webhook", "The App has no webhook URL.", advice));
  } else if (wanted !== null ? url !== wanted : !url.endsWith(path)) {
    found.push(problem("webhook", `Webhooks go to ${url}, not to ${wanted ?? `…${path}`}.`, settings));
  } else found.push(fine("webhook", `Webhooks go to ${url}.`));
  if (!isJson) found.push(problem("webhook", "Webhooks are not sent as JSON.", settings));
  if (!hasSecret) {
    found.push(
      problem("webhook", "The App has no webhook secret.", "Set it to the value of WEBHOOK_SECRET."),
    );
  }
  return [...found, ...(await checkDeliveries(forge, listMissing))];
}

/** GitHub shows no secret: only failed deliveries show that the secrets differ. */
async function checkDeliveries(forge: Forge, listMissing: ListMissing): Promise<Finding[]> {
  const { attempts } = await forge.deliveryLog(null);
  const [newest] = attempts;
  if (!newest)
    return [fine("deliveries", "GitHub has sent none yet, so the webhook secret is not verified.")];
  const failed = attempts.filter(({ isOk }) => !isOk);
  if (failed.length === 0)
    return [fine("deliveries", `All of GitHub's last ${attempts.length} deliveries were accepted.`)];
  const message = `${failed.length} of GitHub's last ${attempts.length} deliveries were not accepted.`;
  if (newest.isOk) {
    const relevant = failed.filter(({ event }) => isTranslated(event));
    const missing = await listMissing(relevant.map(({ guid }) => guid));
    if (missing.size === 0) return [fine("deliveries", `${message} None of them is missing now.`)];
    return [
      warning(
        "deliveries",
        message,
        "The newest was accepted, so the service recovers the missing ones within minutes.",
      ),
    ];
  }
  const then = "then redeliver one in the App's settings, under Advanced, and run doctor again.";
  if (newest.isSignatureRejected) {
    const differs = `${message} The newest got 401: the App's webhook secret differs from the running service's.`;
    const advice = `Set both to the same value (WEBHOOK_SECRET), restart the service, ${then}`;
    return [problem("webhook secret", differs, advice)];
  }
  const text = `${message} The newest failed: ${newest.outcome}.`;
  return [problem("deliveries", text, `Check that the webhook URL leads to the service, ${then}`)];
}

async function checkGraphql(forge: Forge): Promise<Finding[]> {
  const usable = (await forge.installations()).find(({ suspended }) => !suspended);
  if (!usable) return [];
  const lacking = await forge.graphqlGaps(usable.installationId);
  if (lacking === null) {
    const advice = "Check GHE_HOST, and that a proxy in front of GitHub lets its GraphQL API through.";
    return [problem("graphql", "GitHub has no GraphQL API at this address.", advice)];
  }
  if (lacking.length === 0) return [fine("graphql", "GitHub's GraphQL API has all that is used.")];
  return lacking.map((message) => problem("graphql", message, "Upgrade the GitHub Enterprise Server."));
}

async function checkInstallations(forge: Forge): Promise<Finding[]> {
  const installations = await forge.installations();
  if (installations.length > 0) return installations.flatMap(checkInstallation);
  return [warning("installations", "No account has installed the App.", "Install it from the App's page.")];
}

function checkInstallation({ account, suspended, missingPermissions }: ForgeInstallation): Finding[] {
  const about = `installation ${account.login}`;
  if (suspended) {
    return [
      warning(
        about,
        "It is suspended.",
        "Its owner can unsuspend it in the account's settings, under GitHub Apps.",
      ),
    ];
  }
  if (missingPermissions.length === 0) return [fine(about, "It grants all required permissions.")];
  const advice =
    "Its owner can accept the App's new permissions in the account's settings, under GitHub Apps.";
  return missingPermissions.map((permission) => problem(about, `It does not grant ${permission}.`, advice));
}

/** The message of an error and, for a call to GitHub, the route and status, without the request. */
export function messageOf(error: unknown): string {
  if (!(error instanceof ForgeUnavailable))
    return error instanceof Error ? error.message : "The check failed.";
  return error.cause instanceof Error ? `${error.message} (${error.cause.message}).` : `${error.message}.`;
}
