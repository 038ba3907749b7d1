import { useState, type ComponentProps } from "react";
import { useRead } from "../../api/reads.ts";
import type { ApiKey, IssuedApiKey } from "../../api/schema.d.ts";
import { hasRole } from "../../api/session.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { Button } from "../../components/button.tsx";
import { Icon } from "../../components/icon.tsx";
import { EmptyState } from "../../components/states.tsx";
import { SectionHead } from "../section-head.tsx";
import { IssuedKey } from "./issued-key.tsx";
import { KeyRow } from "./key-row.tsx";
import { LIST_OPTIONS } from "./list-options.ts";
import { NewKeyForm } from "./new-key-form.tsx";
import { Waiting } from "./waiting.tsx";
import "./people.css";

const ABOUT = "Agents and scripts call the API with a key. What they write has the name of the key.";

/** The API keys of the board: all of them for maintainers, their own for members. */
export default function KeysSection() {
  const { board } = useWorkspace();
  const [isAdding, setIsAdding] = useState(false);
  const [issued, setIssued] = useState<IssuedApiKey | null>(null);
  if (!hasRole(board.role, "member"))
    return (
      <>
        <SectionHead title="API keys" about={ABOUT} />
        <EmptyState title="Viewers have no API keys">
          Your role is viewer. A maintainer of the board can make you a member.
        </EmptyState>
      </>
    );
  return (
    <>
      <SectionHead title="API keys" about={ABOUT}>
        <Button kind="primary" aria-expanded={isAdding} onClick={() => setIsAdding(!isAdding)}>
          <Icon name="plus" /> New key
        </Button>
      </SectionHead>
      {issued && <Issued key={issued.apiKey} issued={issued} onClose={() => setIssued(null)} />}
      {isAdding && (
        <NewKeyForm
          onIssued={(key) => {
            setIssued(key);
            setIsAdding(false);
          }}
          onCancel={() => setIsAdding(false)}
        />
      )}
      <Keys onRotated={setIssued} />
    </>
  );
}

function useKeys() {
  const { keys } = useWorkspace();
  return useRead(keys.people("keys"), "GET /console/v1/credentials", {}, LIST_OPTIONS);
}

/** A new key, until it is revoked. */
function Issued(props: ComponentProps<typeof IssuedKey>) {
  const { data = [] } = useKeys();
  const isRevoked = data.some(({ id, revokedAt }) => id === props.issued.id && revokedAt !== null);
  return isRevoked ? null : <IssuedKey {...props} />;
}

function Keys({ onRotated }: { readonly onRotated: (key: IssuedApiKey) => void }) {
  const { board } = useWorkspace();
  const { data, error, refetch } = useKeys();
  if (!data) return <Waiting what="the keys" error={error} onRetry={() => void refetch()} />;
  if (data.length === 0)
    return (
      <p className="settings-faint">
        {board.role === "maintainer" ? "There are no keys yet." : "You have no keys."} Issue one for each
        agent or script.
      </p>
    );
  const listed = (title: string, id: string, shown: readonly ApiKey[]) =>
    shown.length > 0 && (
      <section className="settings-part" aria-labelledby={id}>
        <h2 id={id}>{title}</h2>
        <ul className="settings-rows">
          {shown.map((key) => (
            <KeyRow key={key.id} apiKey={key} onRotated={onRotated} />
          ))}
        </ul>
      </section>
    );
  return (
    <>
      {listed(
        board.role === "maintainer" ? "Keys of this board" : "Your keys",
        "keys",
        data.filter(({ revokedAt }) => revokedAt === null),
      )}
      {listed(
        "Revoked in the last 90 days",
        "revoked-keys",
        data.filter(({ revokedAt }) => revokedAt !== null),
      )}
    </>
  );
}
