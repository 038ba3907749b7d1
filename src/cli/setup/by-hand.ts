import { WEBHOOK_PATH } from "../../app.ts";
import { NEEDED_EVENTS, NEEDED_PERMISSIONS } from "../../forge/github/permissions.ts";

/**
 * The forge's form with everything filled in but the secrets
 * (https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-using-url-parameters).
 */
export function formAddress(newAppUrl: string, { url, name }: { url: string; name: string }): string {
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

export const NEXT_BY_HAND = `Open this address where you are signed in to the forge. Then, on the page:
  1. Webhook secret: paste one made with \`openssl rand -hex 32\`. It is WEBHOOK_SECRET.
  2. Compare permissions and events with app.yml, and create the App. Its App ID is APP_ID.
  3. Private keys: generate one. The file that comes down is what PRIVATE_KEY_PATH names.
  4. Install App: on the account, for the repositories of its boards.
When these are set: trunkline doctor.`;
