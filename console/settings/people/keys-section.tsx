import { skipToken, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ComponentProps } from "react";
import { Link, useSearchParams } from "wouter";
import type { ApiKey, IssuedApiKey } from "../../api/schema.d.ts";
import { hasRole } from "../../api/session.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { Button } from "../../components/button.tsx";
import { Icon } from "../../components/icon.tsx";
import { EmptyState } from "../../components/states.tsx";
import { useAddress } from "../../shell/use-project.ts";
import { SectionHead } from "../section-head.tsx";
import { isKeyOf, KEYS_PATH, useApiKeys } from "./agent-keys.ts";
import { IssuedKey } from "./issued-key.tsx";
import { KeyRow } from "./key-row.tsx";
import { NewKeyForm } from "./new-key-form.tsx";
import { Waiting } from "./waiting.tsx";
import "./people.css";

const ABOUT = "Agents and scripts call the API with a key. What they write has the name of the key.";

/** The API keys of the board, or those of the agent that the address names (`?agent=<login>`). */
export default function KeysSection() {
  const { board } = useWorkspace();
  const { login, isAdding, setIsAdding } = useKeysAddress();
  const { issued, setIssued } = useIssuedKey();
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
          agentLogin={login}
          onIssued={(key) => {
            setIssued(key);
            setIsAdding(false);
          }}
          onCancel={() => setIsAdding(false)}
        />
      )}
      <Keys login={login} onRotated={setIssued} />
    </>
  );
}

/**
 * The key that was issued last, until the user has stored it, so that opening another screen does not lose
 * it. Only this page's memory has it.
 */
function useIssuedKey() {
  const { keys } = useWorkspace();
  const queries = useQueryClient();
  const { data: issued = null } = useQuery<IssuedApiKey | null>({
    queryKey: keys.issuedKey,
    queryFn: skipToken,
    gcTime: Number.POSITIVE_INFINITY,
  });
  const setIssued = (key: IssuedApiKey | null): void => void queries.setQueryData(keys.issuedKey, key);
  return { issued, setIssued };
}

/** What the address says: whose keys are shown, and whether the form is open. */
function useKeysAddress() {
  const [search, setSearch] = useSearchParams();
  const setIsAdding = (isAdding: boolean): void =>
    setSearch(
      (params) => {
        if (isAdding) params.set("new", "key");
        else params.delete("new");
        return params;
      },
      { replace: true },
    );
  return { login: search.get("agent"), isAdding: search.has("new"), setIsAdding };
}

/** A new key, until it is revoked. */
function Issued(props: ComponentProps<typeof IssuedKey>) {
  const { data = [] } = useApiKeys();
  const isRevoked = data.some(({ id, revokedAt }) => id === props.issued.id && revokedAt !== null);
  return isRevoked ? null : <IssuedKey {...props} />;
}

interface KeysProps {
  /** The login of the agent whose keys are shown; null shows all keys. */
  readonly login: string | null;
  readonly onRotated: (key: IssuedApiKey) => void;
}

function Keys({ login, onRotated }: KeysProps) {
  const { board } = useWorkspace();
  const { data, error, refetch } = useApiKeys();
  if (!data) return <Waiting what="the keys" error={error} onRetry={() => void refetch()} />;
  const shown = login === null ? data : data.filter((key) => isKeyOf({ login }, key));
  const ofBoard = board.role === "maintainer" ? "Keys of this board" : "Your keys";
  return (
    <>
      {login !== null && <AllKeys login={login} />}
      {shown.length === 0 && <NoKeys login={login} />}
      <KeyList
        id="keys"
        title={login === null ? ofBoard : `Keys of ${login}`}
        keys={shown.filter(({ revokedAt }) => revokedAt === null)}
        onRotated={onRotated}
      />
      <KeyList
        id="revoked-keys"
        title="Revoked in the last 90 days"
        keys={shown.filter(({ revokedAt }) => revokedAt !== null)}
        onRotated={onRotated}
      />
    </>
  );
}

interface KeyListProps extends Pick<KeysProps, "onRotated"> {
  readonly id: string;
  readonly title: string;
  readonly keys: readonly ApiKey[];
}

const KeyList = ({ id, title, keys, onRotated }: KeyListProps) =>
  keys.length > 0 && (
    <section className="settings-part" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <ul className="settings-rows">
        {keys.map((key) => (
          <KeyRow key={key.id} apiKey={key} onRotated={onRotated} />
        ))}
      </ul>
    </section>
  );

function NoKeys({ login }: Pick<KeysProps, "login">) {
  const { board } = useWorkspace();
  if (login !== null) return <p className="settings-faint">{login} has no keys.</p>;
  return (
    <p className="settings-faint">
      {board.role === "maintainer" ? "There are no keys yet." : "You have no keys."} Issue one for each agent
      or script.
    </p>
  );
}

/** Says that only the keys of one agent are shown, and leads to the others. */
function AllKeys({ login }: { readonly login: string }) {
  const addressOf = useAddress();
  return (
    <p className="keys-shown">
      Only the keys of the agent <bdi>{login}</bdi> are shown.{" "}
      <Link href={addressOf(KEYS_PATH)}>Show all keys</Link>
    </p>
  );
}
