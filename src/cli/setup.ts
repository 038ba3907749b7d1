import { WEBHOOK_PATH } from "../app.ts";
import { NEEDED_EVENTS, NEEDED_PERMISSIONS } from "../forge/github/permissions.ts";
import { noWords, readArgs, required, UsageError, type Command } from "./command.ts";

/**
 * `setup`: where a browser makes the App, everything but its secrets filled in
 * (https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-using-url-parameters).
 */
export const setup: Command = {
  name: "setup",
  about: "Prints the address where the GitHub App is made",
  usage: ["setup --url https://<where the service will be reached> [--org <organization>] [--name N]"],
  run: (args, context) => {
    const { values, positionals } = readArgs(args, {
      url: { type: "string" },
      org: { type: "string" },
      name: { type: "string" },
      json: { type: "boolean" },
    });
    noWords(positionals);
    const url = required(values.url, "--url", "where the forge sends its webhooks").replace(/\/$/, "");
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
      throw new UsageError("--url is an address such as https://trunkline.example.com.");
    }
    const { env } = context;
    const root = `${env["GHE_PROTOCOL"] || "https"}://${env["GHE_HOST"] || "github.com"}`;
    const owner = values.org === undefined ? "" : `/organizations/${encodeURIComponent(values.org)}`;
    const link = `${root}${owner}/settings/apps/new?${parametersOf(url, values.name ?? "Trunkline").toString()}`;
    context.print(values.json ? JSON.stringify({ url: link }) : `${link}\n\n${NEXT}`);
    return Promise.resolve();
  },
};

function parametersOf(url: string, name: string): URLSearchParams {
  const parameters = new URLSearchParams({
    name,
    url,
    public: "false",
    webhook_active: "true",
    webhook_url: `${url}${WEBHOOK_PATH}`,
    ...NEEDED_PERMISSIONS,
  });
  for (const event of NEEDED_EVENTS) parameters.append("events[]", event);
  return parameters;
}

const NEXT = `Open this address where you are signed in to the forge. Then, on the page:
  1. Webhook secret: paste one made with \`openssl rand -hex 32\`. It is WEBHOOK_SECRET.
  2. Compare permissions and events with app.yml, and create the App. Its App ID is APP_ID.
  3. Private keys: generate one. The file that comes down is what PRIVATE_KEY_PATH names.
  4. Install App: on the account, for the repositories of its boards.
When these are set: trunkline doctor.`;
