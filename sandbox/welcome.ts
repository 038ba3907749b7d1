import type { SandboxFile } from "./state-files.ts";

/** The message after a start: URLs, the API key and three commands to try. */
export function welcome(file: SandboxFile, path: string): string {
  const { baseUrl, apiKey, forge } = file;
  const ada = forge.users.find((user) => user.login === "ada");
  const cloneUrl = `${forge.cloneUrl.replace("://", `://ada:${ada?.token ?? ""}@`)}/acme/web.git`;
  return `
The Trunkline sandbox is running.

  Console   ${baseUrl}   (open it in a browser, and sign in as ada)
  API       ${baseUrl}/v1   (reference: ${baseUrl}/docs)
  Forge     ${forge.cloneUrl}   (stands in for GitHub; API: ${forge.apiUrl})
  Control   ${forge.control?.url ?? "none"}   (injects faults into the forge: docs/sandbox.md)
  API key   ${apiKey}
  File      ${path}   (contains all of this as JSON)

Try this in another terminal:

  1. See the board as JSON:

     curl -s -H 'Authorization: Bearer ${apiKey}' ${baseUrl}/v1/board

  2. Create a card:

     curl -s -H 'Authorization: Bearer ${apiKey}' -H "Idempotency-Key: first-card-$(date +%s)" \\
       -H 'Content-Type: application/json' -d '{"title":"Say hello"}' ${baseUrl}/v1/cards

  3. Clone the repository of the card:

     git clone ${cloneUrl}

The README shows how to move a card from draft to merged. Press Ctrl-C to stop; the data is kept.
`;
}
