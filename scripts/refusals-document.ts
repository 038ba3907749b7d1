import { KNOWN_MESSAGES } from "../src/forge/github/calls/refusal-messages.ts";
import { wrapped } from "./test-tables.ts";

const LABEL = "- **GitHub**: ";

/** `docs/refusals.md` with the messages of GitHub below each reason. */
export function refusalsDocument(current: string): string {
  const sections = current.split(/^(?=#+ )/m);
  return `${sections.map(withMessages).join("\n\n")}\n`;
}

function withMessages(section: string): string {
  const reason = /^### `(\w+)`$/m.exec(section)?.[1];
  const messages = KNOWN_MESSAGES.filter((each) => each.reason === reason).flatMap(
    (each) => each.messages ?? [],
  );
  const [written = ""] = section.trimEnd().split(`\n${LABEL}`);
  const generated = messages.length === 0 ? "" : `\n${wrapped(`${LABEL}${messages.join("; ")}`)}`;
  return `${written}${generated}`;
}
