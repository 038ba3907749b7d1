import { useState } from "react";
import { Link } from "wouter";
import type { ApiKey, IssuedApiKey } from "../../api/schema.d.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Confirm } from "../../components/dialog/confirm.tsx";
import { useAddress } from "../../shell/use-project.ts";
import { Ago } from "../../text/time.tsx";
import { useChange } from "../use-change.ts";
import { isKeyOf, isPast, useAgents } from "./agent-keys.ts";
import { RotateQuestion } from "./rotate-question.tsx";

interface Props {
  readonly apiKey: ApiKey;
  readonly onRotated: (key: IssuedApiKey) => void;
}

/** A key: what it may do, who owns it, when it was used, and what can be done with it. */
export function KeyRow({ apiKey, onRotated }: Props) {
  const { session } = useWorkspace();
  const [question, setQuestion] = useState<"rotate" | "revoke" | null>(null);
  const { name, role, scopes, otherBoards, revokedAt } = apiKey;
  const isExpired = isPast(apiKey.expiresAt);
  const isForeign = apiKey.owner !== null && apiKey.owner.id !== session.user.id;
  const close = () => setQuestion(null);
  return (
    <li className="settings-row">
      <div className="settings-row-text">
        <span className="person-name">
          <strong>
            <bdi>{name}</bdi>
          </strong>
          {role && <Badge tone={role === "maintainer" ? "accent" : "neutral"}>{role}</Badge>}
          <Badge>{scopes.includes("write") ? "read and write" : "read only"}</Badge>
          {otherBoards > 0 && (
            <Badge>{`${otherBoards} other ${otherBoards === 1 ? "board" : "boards"}`}</Badge>
          )}
          {revokedAt ? (
            <Badge tone="danger">revoked</Badge>
          ) : (
            isExpired && <Badge tone="danger">expired</Badge>
          )}
        </span>
        <Facts apiKey={apiKey} />
      </div>
      {revokedAt === null && (
        <div className="settings-row-actions">
          {!isExpired && !isForeign && otherBoards === 0 && (
            <Button kind="quiet" aria-label={`Rotate ${name}`} onClick={() => setQuestion("rotate")}>
              Rotate
            </Button>
          )}
          <Button kind="quiet" aria-label={`Revoke ${name}`} onClick={() => setQuestion("revoke")}>
            Revoke
          </Button>
        </div>
      )}
      <RotateQuestion
        apiKey={apiKey}
        open={question === "rotate"}
        onClose={close}
        onRotated={(issued) => {
          close();
          onRotated(issued);
        }}
      />
      <RevokeQuestion apiKey={apiKey} open={question === "revoke"} onClose={close} />
    </li>
  );
}

function Facts({ apiKey }: { readonly apiKey: ApiKey }) {
  const { clientId, owner, createdAt, expiresAt, previousUntil, lastUsedAt, revokedAt } = apiKey;
  return (
    <p className="settings-faint key-facts">
      <span className="mono">{clientId}</span>
      <OfAgent apiKey={apiKey} />
      <span>
        {owner ? (
          <>
            owner <bdi>{owner.login}</bdi>
          </>
        ) : (
          "issued by the operator"
        )}
      </span>
      <span>
        created <Ago at={createdAt} />
      </span>
      <span>
        {lastUsedAt ? (
          <>
            used <Ago at={lastUsedAt} />
          </>
        ) : (
          "never used"
        )}
      </span>
      {revokedAt ? (
        <span>
          revoked <Ago at={revokedAt} />
        </span>
      ) : (
        <span>
          {expiresAt ? (
            <>
              {isPast(expiresAt) ? "expired" : "expires"} <Ago at={expiresAt} />
            </>
          ) : (
            "never expires"
          )}
        </span>
      )}
      {previousUntil && !revokedAt && (
        <span>
          previous key {isPast(previousUntil) ? "expired" : "expires"} <Ago at={previousUntil} />
        </span>
      )}
    </p>
  );
}

function OfAgent({ apiKey }: { readonly apiKey: ApiKey }) {
  const addressOf = useAddress();
  const { data: agents = [] } = useAgents();
  const agent = agents.find((each) => isKeyOf(each, apiKey));
  return (
    agent && (
      <span>
        of the agent{" "}
        <Link href={addressOf("/settings/agents")}>
          <bdi>{agent.login}</bdi>
        </Link>
      </span>
    )
  );
}

interface RevokeProps {
  readonly apiKey: ApiKey;
  readonly open: boolean;
  readonly onClose: () => void;
}

function RevokeQuestion({ apiKey: { id, name, clientId, otherBoards }, open, onClose }: RevokeProps) {
  const { keys } = useWorkspace();
  const { run, isBusy, error, reset } = useChange("DELETE /console/v1/credentials/{id}", keys.people("keys"));
  const close = (): void => {
    reset();
    onClose();
  };
  return (
    <Confirm
      open={open}
      title={`Revoke ${name}?`}
      action="Revoke the key"
      isBusy={isBusy}
      error={error}
      onCancel={close}
      onConfirm={() =>
        void run({ path: { id } }, `The key ${name} is revoked`).then((done) => done && close())
      }
    >
      <p>
        Calls with it are refused from now on, and what it has started stops: armed moves, promotions, claims,
        and the webhooks that it created. What it wrote stays.
      </p>
      {otherBoards > 0 && (
        <p className="person-consequence">
          It keeps its access to {otherBoards === 1 ? "another board" : `${otherBoards} other boards`}. To end
          that, too, an operator runs <code>trunkline credential revoke {clientId}</code>.
        </p>
      )}
    </Confirm>
  );
}
