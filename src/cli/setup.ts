import { resolve } from "node:path";
import { WEBHOOK_PATH } from "../app.ts";
import { EXAMPLE_ADDRESS, isAddress, readForgeUrls } from "../config.ts";
import { Problem } from "../errors.ts";
import { noWords, readArgs, required, UsageError, type Command, type CommandContext } from "./command.ts";
import { formAddress, NEXT_BY_HAND } from "./setup/by-hand.ts";
import { assertRoomForApp } from "./setup/env-file.ts";
import { installUrlOf, makeApp, type NewApp } from "./setup/make-app.ts";

/** `setup`: makes the App in a browser, and takes its key and secret from there. */
export const setup: Command = {
  name: "setup",
  about: "Makes the GitHub App in a browser and writes its settings to a file",
  usage: [
    "setup --url https://<where the service will be reached> [--org <organization>] [--name N] [--port N] [--file F]",
    "setup --by-hand --url https://<where the service will be reached> [--org <organization>] [--name N]",
  ],
  run: async (args, context) => {
    const { values, positionals } = readArgs(args, {
      url: { type: "string" },
      org: { type: "string" },
      name: { type: "string", default: "Trunkline" },
      port: { type: "string", default: "3003" },
      // Not `--env-file`: Node 20 takes that for its own, wherever it stands.
      file: { type: "string", default: ".env" },
      "by-hand": { type: "boolean", default: false },
      json: { type: "boolean", default: false },
    });
    noWords(positionals);
    const url = required(values.url, "--url", "where the forge sends its webhooks").replace(/\/$/, "");
    if (!isAddress(url)) throw new UsageError(`--url is an address such as ${EXAMPLE_ADDRESS}.`);
    const { name } = values;
    const forge = readForgeUrls(context.env);
    const owner = values.org === undefined ? "" : `/organizations/${encodeURIComponent(values.org)}`;
    const newAppUrl = `${forge.pages}${owner}/settings/apps/new`;
    if (values["by-hand"]) {
      const link = formAddress(newAppUrl, { url, name });
      context.print(values.json ? JSON.stringify({ url: link }) : `${link}\n\n${NEXT_BY_HAND}`);
      return;
    }
    const port = Number(values.port);
    if (!Number.isInteger(port) || port < 0 || port > 65_535)
      throw new UsageError("--port is a port number.");
    const envFile = resolve(context.cwd, values.file);
    const webhookUrl = `${url}${WEBHOOK_PATH}`;
    await inBrowser(
      { name, url, webhookUrl, newAppUrl, apiUrl: forge.api, envFile, port },
      context,
      values.json,
    );
  },
};

/** Nothing that is printed is secret. */
async function inBrowser(wanted: NewApp, context: CommandContext, asJson: boolean): Promise<void> {
  const { print, untilSignal } = context;
  const { envFile, newAppUrl } = wanted;
  await assertRoomForApp(envFile);
  const opened = (address: string): void =>
    print(
      asJson
        ? JSON.stringify({ url: address })
        : `Open ${address} in a browser on this machine that is signed in to ${new URL(newAppUrl).origin}. Ctrl-C ends this.`,
    );
  const app = await makeApp(wanted, { opened, untilSignal });
  if (app === null)
    throw new Problem("unavailable", "Ended before the App's secrets were here. Nothing was written.");
  const installUrl = installUrlOf(app);
  print(
    asJson
      ? JSON.stringify({ appId: app.id, envFile, installUrl })
      : `APP_ID, PRIVATE_KEY and WEBHOOK_SECRET of the App are in ${envFile}, which only you may read.
Next, install the App for the repositories of its boards: ${installUrl}
Then start the service with these settings, and look at it: trunkline doctor`,
  );
}
