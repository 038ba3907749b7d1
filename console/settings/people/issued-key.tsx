import { useEffect, useRef } from "react";
import type { IssuedApiKey } from "../../api/schema.d.ts";
import { Button } from "../../components/button.tsx";
import { CopyButton } from "../../components/copy-button.tsx";
import { exactTime } from "../../text/time.tsx";

interface Props {
  readonly issued: IssuedApiKey;
  readonly onClose: () => void;
}

/** A new key, shown this once, with a command that tries it. */
export function IssuedKey({ issued: { name, apiKey, previousUntil }, onClose }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const command = `curl -sS "${window.location.origin}/v1/me" \\\n  -H "Authorization: Bearer ${apiKey}"`;
  return (
    <section className="issued-key" aria-labelledby="issued-key">
      <h2 id="issued-key" tabIndex={-1} ref={heading}>
        Copy the key of <bdi>{name}</bdi> now
      </h2>
      <p>It is not shown again: Trunkline stores only a hash of it.</p>
      <code data-testid="api-key">{apiKey}</code>
      <CopyButton kind="primary" text={apiKey} label="Copy the key" />
      <p>To try it, run:</p>
      <pre data-testid="try-key">{command}</pre>
      <div className="form-actions">
        <CopyButton text={command} label="Copy the command" />
        <Button onClick={onClose}>I have stored the key</Button>
      </div>
      {previousUntil !== null && (
        <p className="settings-faint">The previous key is valid until {exactTime(previousUntil)}.</p>
      )}
    </section>
  );
}
