import type { SandboxFile } from "./state-files.ts";

/** What a newcomer reads first: where everything is, and three things to try. */
export function welcome(file: SandboxFile, path: string): string {
  const { baseUrl, apiKey, forge } = file;
  const ada = forge.users.find((user) => user.login === "ada");
  const cloneUrl = `${forge.cloneUrl.replace("://", `://ada:${ada?.token ?? ""}@`)}/acme/web.git`;
  return `
Trunkline is running in its sandbox.

  Service   ${baseUrl}
  Forge     ${forge.cloneUrl}   (GitHub's API at ${forge.apiUrl}, as ada, grace or an agent)
  Control   ${forge.control?.url ?? "none"}   (makes the forge misbehave: docs/sandbox.md)
  API key   ${apiKey}
  All this  ${path}

Try next, in another terminal:

  1. See the board:

     curl -s -H 'Authorization: Bearer ${apiKey}' ${baseUrl}/v1/board

  2. Create a card:

     curl -s -H 'Authorization: Bearer ${apiKey}' -H "Idempotency-Key: first-card-$(date +%s)" \\
       -H 'Content-Type: application/json' -d '{"title":"Say hello"}' ${baseUrl}/v1/cards

  3. Clone the repository its branch will be cut in:

     git clone ${cloneUrl}

The README walks a card from draft to merged. Ctrl-C ends everything; the state stays.
`;
}
