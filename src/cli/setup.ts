import { resolve } from "node:path";
import { WEBHOOK_PATH } from "../app.ts";
import { CALLBACK_PATH } from "../http/console/console.ts";
import { readForgeUrls } from "../config.ts";
import { EXAMPLE_URL, isServiceUrl } from "../settings.ts";
import { Problem } from "../errors.ts";
import { NEEDED_EVENTS, NEEDED_PERMISSIONS, OPTIONAL_PERMISSIONS } from "../forge/github/app.ts";
import { portOf, printOutcome, readOptions, required, TEXT, type Command, UsageError } from "./command.ts";
import { assertNoAppSettings } from "./setup/env-file.ts";
import { APP_SETTINGS, installUrlOf, createGitHubApp } from "./setup/create-github-app.ts";
import { isPrivateUrl } from "../actions/webhooks/private-address.ts";

/** Creates the App in a browser, and receives its key and webhook secret. */
export const setup: Command = {
  name: "setup",
  about: "Creates the GitHub App in a browser and writes its settings to a file",
  usage: [
    "setup --url <url> [--org <organization>] [--name <name>] [--port <port>] [--file <path>]",
    "setup --by-hand --url <url> [--org <organization>] [--name <name>]",
  ],
  options: {
    "--url <url>": "Public URL of the service, to which GitHub delivers webhooks",
    "--org <organization>": "Organization that owns the App (default: your own account)",
    "--name <name>": "Name of the App (default: Trunkline)",
    "--port <port>": "Port of the setup page on this machine (default: 3003)",
    "--file <path>": `File for ${APP_SETTINGS} (default: .env)`,
    "--by-hand": "Print the URL of GitHub's form, filled in, and the next steps",
  },
  examples: [`setup --url ${EXAMPLE_URL} --org acme`],
  run: async (args, context) => {
    const values = readOptions(args, {
      url: TEXT,
      org: TEXT,
      name: { ...TEXT, default: "Trunkline" },
      port: { ...TEXT, default: "3003" },
      // Not `--env-file`: Node 20 handles that option itself, wherever it appears.
      file: { ...TEXT, default: ".env" },
      "by-hand": { type: "boolean", default: false },
    });
    const url = required(values.url, "--url", "the public URL of the service").replace(/\/$/, "");
    if (!isServiceUrl(url)) throw new UsageError(`--url must be a URL such as ${EXAMPLE_URL}.`);
    const { name } = values;
    const forge = readForgeUrls(context.env);
    const owner = values.org === undefined ? "" : `/organizations/${encodeURIComponent(values.org)}`;
    const newAppUrl = `${forge.pages}${owner}/settings/apps/new`;
    const warning = forge.pages === GITHUB && isPrivateUrl(url) ? unreachable(url) : undefined;
    const print = (address: string, text: string): void => {
      const result = { url: address, ...(warning && { warning }) };
      printOutcome(context, values, result, warning ? `warning: ${warning}\n\n${text}` : text);
    };
    if (values["by-hand"]) {
      const link = formAddress(newAppUrl, { url, name });
      print(link, `${link}\n\n${NEXT_BY_HAND}`);
      return;
    }
    const port = portOf(values.port);
    const envFile = resolve(context.cwd, values.file);
    const webhookUrl = `${url}${WEBHOOK_PATH}`;
    const callbackUrl = `${url}${CALLBACK_PATH}`;
    const wanted = { name, url, webhookUrl, callbackUrl, newAppUrl, apiUrl: forge.api, envFile, port };
    await assertNoAppSettings(envFile);
    const onListening = (address: string): void => {
      const text = `Open ${address} in a browser on this machine where you are signed in to ${new URL(newAppUrl).origin}. Ctrl-C cancels.`;
      print(address, text);
    };
    const app = await createGitHubApp(wanted, { onListening, untilSignal: context.untilSignal });
    if (app === null)
      throw new Problem("unavailable", "Stopped before the App's secrets arrived. Nothing was written.");
    const installUrl = installUrlOf(app);
    printOutcome(
      context,
      values,
      { appId: app.id, envFile, installUrl },
      // Contains no secret.
      `Wrote ${APP_SETTINGS} to ${envFile}. Only you can read this file.
Next, install the App for the repositories of its boards: ${installUrl}
Then start the service with these settings and run: trunkline doctor`,
    );
  },
};

const GITHUB = "https://github.com";

/** Without webhooks the service reads pushes from the App's delivery log, minutes later. */
const unreachable = (url: string): string =>
  `GitHub cannot deliver webhooks to ${url}, which is on this machine or on a private network. Use a public HTTPS URL, or that of a tunnel that forwards to the service.`;

/**
 * The URL of GitHub's form, filled in except for the secrets
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
    ...OPTIONAL_PERMISSIONS,
  });
  parameters.append("callback_urls[]", `${url}${CALLBACK_PATH}`);
  for (const event of NEEDED_EVENTS) parameters.append("events[]", event);
  return `${newAppUrl}?${parameters.toString()}`;
}

const NEXT_BY_HAND = `Open this URL where you are signed in to GitHub. Then, on the page:
  1. Webhook secret: paste the output of \`openssl rand -hex 32\`. Set WEBHOOK_SECRET to it.
  2. Compare permissions and events with app.yml, and create the App. Set APP_ID to its App ID.
  3. Private keys: generate one. Set PRIVATE_KEY_PATH to the downloaded file.
  4. Client secrets: generate one. Set CLIENT_SECRET to it, and CLIENT_ID to the Client ID.
  5. Install App: install it on the account, for the repositories of its boards.
Set PUBLIC_URL to the URL of the service. With these settings, run: trunkline doctor`;
