/** Forge accounts of coding agents that are known without anybody registering them, by login in lower case. */
const KNOWN_AGENTS: ReadonlySet<string> = new Set([
  "copilot-swe-agent[bot]",
  "copilot",
  "claude[bot]",
  "openai-codex[bot]",
  "chatgpt-codex-connector[bot]",
  "devin-ai-integration[bot]",
  "cursor[bot]",
  "google-labs-jules[bot]",
  "sweep-ai[bot]",
]);

/** Whether a forge login is a known coding agent's. */
export const isKnownAgent = (login: string): boolean => KNOWN_AGENTS.has(login.toLowerCase());
