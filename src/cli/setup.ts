import { resolve } from "node:path";
import { WEBHOOK_PATH } from "../app.ts";
import { EXAMPLE_ADDRESS, isAddress, readForgeUrls } from "../config.ts";
import { Problem } from "../errors.ts";
import { NEEDED_EVENTS, NEEDED_PERMISSIONS } from "../forge/github/permissions.ts";
import { portOf, printDone, readOptions, required, TEXT, type Command, UsageError } from "./command.ts";
import { assertRoomForApp } from "./setup/env-file.ts";
import { installUrlOf, makeApp } from "./setup/make-app.ts";
import { isPrivateUrl } from "./setup/private-address.ts";

/** `setup`: makes the App in a browser, and takes its key and secret from there. */
export const setup: Command = {
  name: "setup",
  about: "Makes the GitHub App in a browser and writes its settings to a file",
  usage: [
    "setup --url https://<where the service will be reached> [--org <organization>] [--name N] [--port N] [--file F]",
    "setup --by-hand --url https://<where the service will be reached> [--org <organization>] [--name N]",
  ],
  run: async (args, context) => {
    const values = readOptions(args, {
      url: TEXT,
      org: TEXT,
      name: { ...TEXT, default: "Trunkline" },
      port: { ...TEXT, default: "3003" },
      // Not `--env-file`: Node 20 takes that for its own, wherever it stands.
      file: { ...TEXT, default: ".env" },
      "by-hand": { type: "boolean", default: false },
    });
    const url = required(values.url, "--url", "where the forge sends its webhooks").replace(/\/$/, "");
    if (!isAddress(url)) throw new UsageError(`--url is an address such as ${EXAMPLE_ADDRESS}.`);
    const { name } = values;
    const forge = readForgeUrls(context.env);
    const owner = values.org === undefined ? "" : `/organizations/${encodeURIComponent(values.org)}`;
    const newAppUrl = `${forge.pages}${owner}/settings/apps/new`;
    const warning = forge.pages === GITHUB && isPrivateUrl(url) ? unreachable(url) : undefined;
    const print = (address: string, text: string): void => {
      const result = { url: address, ...(warning && { warning }) };
      printDone(context, values, result, warning ? `warning: ${warning}\n\n${text}` : text);
    };
    if (values["by-hand"]) {
      const link = formAddress(newAppUrl, { url, name });
      print(link, `${link}\n\n${NEXT_BY_HAND}`);
      return;
    }
    const port = portOf(values.port);
    const envFile = resolve(context.cwd, values.file);
    const webhookUrl = `${url}${WEBHOOK_PATH}`;
    const wanted = { name, url, webhookUrl, newAppUrl, apiUrl: forge.api, envFile, port };
    await assertRoomForApp(envFile);
    const opened = (address: string): void => {
      const text = `Open ${address} in a browser on this machine that is signed in to ${new URL(newAppUrl).origin}. Ctrl-C ends this.`;
      print(address, text);
    };
    const app = await makeApp(wanted, { opened, untilSignal: context.untilSignal });
    if (app === null)
      throw new Problem("unavailable", "Ended before the App's secrets were here. Nothing was written.");
    const installUrl = installUrlOf(app);
    printDone(
      context,
      values,
      { appId: app.id, envFile, installUrl },
      // Nothing that is printed is secret.
      `APP_ID, PRIVATE_KEY and WEBHOOK_SECRET of the App are in ${envFile}, which only you may read.
Next, install the App for the repositories of its boards: ${installUrl}
Then start the service with these settings, and look at it: trunkline doctor`,
    );
  },
};

const GITHUB = "https://github.com";

/** Without webhooks a card follows a push only minutes later, when the service reads the App's log of deliveries. */
const unreachable = (url: string): string =>
  `GitHub cannot deliver webhooks to ${url}, which is on this machine or on a private network. Use a public HTTPS URL, or that of a tunnel that forwards to the service.`;

/**
 * The forge's form with everything filled in but the secrets
 * (https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-using-url-parameters).
 */
function formAddress(newAppUrl: string, { url, name }: { url: string; name: string }): string {
  const parameters = new URLSearchParams({
    name,
    url,
    public: "false",
    webhook_active: "true",
    webhook_url: `${url}${WEBHOOK_PATH}`,
    ...NEEDED_PERMISSIONS,
  });
  for (const event of NEEDED_EVENTS) parameters.append("events[]", event);
  return `${newAppUrl}?${parameters.toString()}`;
}

const NEXT_BY_HAND = `Open this address where you are signed in to the forge. Then, on the page:
  1. Webhook secret: paste one made with \`openssl rand -hex 32\`. It is WEBHOOK_SECRET.
  2. Compare permissions and events with app.yml, and create the App. Its App ID is APP_ID.
  3. Private keys: generate one. The file that comes down is what PRIVATE_KEY_PATH names.
  4. Install App: on the account, for the repositories of its boards.
When these are set: trunkline doctor.`;
