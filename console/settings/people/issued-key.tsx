import { useEffect, useRef, useState } from "react";
import type { IssuedApiKey, Project } from "../../api/schema.d.ts";
import { hasRole } from "../../api/session.ts";
import { ExternalLink } from "../../card/git/external-link.tsx";
import { Button } from "../../components/button.tsx";
import { CopyButton } from "../../components/copy-button.tsx";
import { useProject } from "../../shell/use-project.ts";
import { exactTime } from "../../text/time.tsx";

interface Props {
  readonly issued: IssuedApiKey;
  readonly onClose: () => void;
}

/** A new key, shown this once, with commands that try it. */
export function IssuedKey({ issued: { name, role, scopes, apiKey, previousUntil }, onClose }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const { project } = useProject();
  const { origin } = window.location;
  const commandFor = (path: string, ...options: readonly string[]): string =>
    [`curl -sS "${origin}${path}"`, `-H "Authorization: Bearer ${apiKey}"`, ...options].join(" \\\n  ");
  const mayCreate = scopes.includes("write") && role !== null && hasRole(role, "member");
  return (
    <section className="issued-key" aria-labelledby="issued-key">
      <h2 id="issued-key" tabIndex={-1} ref={heading}>
        Copy the key of <bdi>{name}</bdi> now
      </h2>
      <p>It is not shown again: Trunkline stores only a hash of it.</p>
      <code data-testid="api-key">{apiKey}</code>
      <CopyButton kind="primary" text={apiKey} label="Copy the key" />
      <p>To show what the key may do, run:</p>
      <Command text={commandFor("/v1/me")} of="for the key" testId="try-key" />
      {project && (
        <>
          <p>
            To list the columns of <bdi>{project.name}</bdi> with their cards, without the backlog, run:
          </p>
          <Command
            text={commandFor(`/v1/board?projectId=${project.id}`)}
            of="for the board"
            testId="try-board"
          />
          {mayCreate && <CreateCard commandFor={commandFor} project={project} />}
        </>
      )}
      <p>
        <ExternalLink href={`${origin}/docs`}>API reference</ExternalLink>
      </p>
      <Button onClick={onClose}>I have stored the key</Button>
      {previousUntil !== null && (
        <p className="settings-faint">The previous key is valid until {exactTime(previousUntil)}.</p>
      )}
    </section>
  );
}

interface CreateProps {
  readonly commandFor: (path: string, ...options: readonly string[]) => string;
  readonly project: Project;
}

/** A command that creates a card. It keeps its idempotency key, so that running it twice creates one card. */
function CreateCard({ commandFor, project: { id, name } }: CreateProps) {
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const command = commandFor(
    "/v1/cards",
    '-H "Content-Type: application/json"',
    `-H "Idempotency-Key: ${idempotencyKey}"`,
    `-d '${JSON.stringify({ projectId: id, title: "Try the API" })}'`,
  );
  return (
    <>
      <p>
        To create a card in the backlog of <bdi>{name}</bdi>, run this. Repeated with the same
        Idempotency-Key, it creates no second card:
      </p>
      <Command text={command} of="that creates a card" testId="try-card" />
    </>
  );
}

interface CommandProps {
  readonly text: string;
  /** What it is for, for assistive technology. */
  readonly of: string;
  readonly testId: string;
}

const Command = ({ text, of, testId }: CommandProps) => (
  <>
    <pre data-testid={testId}>{text}</pre>
    <CopyButton text={text} label="Copy the command" of={of} />
  </>
);
