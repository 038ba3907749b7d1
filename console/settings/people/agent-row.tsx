import { useState } from "react";
import { Link } from "wouter";
import type { Agent } from "../../api/schema.d.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { Avatar } from "../../components/avatar.tsx";
import { Badge } from "../../components/badge.tsx";
import { Button, buttonClass } from "../../components/button.tsx";
import { Confirm } from "../../components/dialog/confirm.tsx";
import { Icon } from "../../components/icon.tsx";
import { Menu, MenuGroup, MenuItem } from "../../components/menu.tsx";
import { useAddress } from "../../shell/use-project.ts";
import { counted } from "../../text/counted.ts";
import { Problem } from "../problem.tsx";
import { useChange } from "../use-change.ts";
import { isActive, isKeyOf, KEYS_PATH, keysOfAgent, newKeyOfAgent, useApiKeys } from "./agent-keys.ts";
import { useOwners } from "./use-owners.ts";

/** An agent with its keys, and with its owner, whom a menu changes. */
export function AgentRow({ agent }: { readonly agent: Agent }) {
  const { keys } = useWorkspace();
  const [isAsking, setIsAsking] = useState(false);
  const { id: userId, login, avatarUrl, isRegistered, owner } = agent;
  const { run, isBusy, error } = useChange("PATCH /console/v1/agents/{userId}", keys.people("agents"));
  const setOwner = (ownerId: string | null, name: string): void =>
    void run({ path: { userId }, body: { ownerId } }, `The owner of ${login} is ${name}`);
  return (
    <li className="settings-row">
      <div className="settings-row-text">
        <span className="person-name">
          <Avatar name={login} avatarUrl={avatarUrl} kind="agent" isDecorative />
          <strong>
            <bdi>{login}</bdi>
          </strong>
          {!isRegistered && <Badge>well-known</Badge>}
        </span>
        <KeyCount agent={agent} />
        <Problem error={error} />
      </div>
      <div className="settings-row-actions">
        <IssueKey login={login} />
        <OwnerMenu login={login} owner={owner} isBusy={isBusy} onChoose={setOwner} />
        {isRegistered && (
          <Button kind="quiet" aria-label={`Remove ${login}`} onClick={() => setIsAsking(true)}>
            Remove
          </Button>
        )}
      </div>
      <RemoveAgent agent={agent} open={isAsking} onClose={() => setIsAsking(false)} />
    </li>
  );
}

function KeyCount({ agent }: { readonly agent: Agent }) {
  const addressOf = useAddress();
  const { data } = useApiKeys();
  if (!data) return null;
  const count = data.filter((key) => isActive(key) && isKeyOf(agent, key)).length;
  return (
    <p className="settings-faint">
      {count === 0 ? (
        "No active API key"
      ) : (
        <Link href={addressOf(KEYS_PATH, keysOfAgent(agent.login))}>{counted(count, "active API key")}</Link>
      )}
    </p>
  );
}

/** Opens the form for a key with the agent chosen. */
export function IssueKey({ login }: { readonly login: string }) {
  const addressOf = useAddress();
  return (
    <Link href={addressOf(KEYS_PATH, newKeyOfAgent(login))} className={buttonClass()}>
      Issue a key<span className="visually-hidden"> for {login}</span>
    </Link>
  );
}

interface OwnerMenuProps extends Pick<Agent, "login" | "owner"> {
  readonly isBusy: boolean;
  readonly onChoose: (ownerId: string | null, name: string) => void;
}

function OwnerMenu({ login, owner, isBusy, onChoose }: OwnerMenuProps) {
  const owners = useOwners();
  return (
    <Menu
      align="end"
      trigger={
        <Button isBusy={isBusy}>
          {owner ? <bdi>Owner: {owner.login}</bdi> : "No owner"}
          <span className="visually-hidden"> of {login}</span>
          <Icon name="chevron" />
        </Button>
      }
    >
      <MenuGroup label={`Owner of ${login}`}>
        {owners.map(({ id, login: name }) => (
          <MenuItem key={id} isChecked={id === owner?.id} onSelect={() => onChoose(id, name)}>
            <bdi>{name}</bdi>
          </MenuItem>
        ))}
        <MenuItem isChecked={owner === null} onSelect={() => onChoose(null, "nobody")}>
          Nobody
        </MenuItem>
      </MenuGroup>
    </Menu>
  );
}

interface RemoveProps {
  readonly agent: Agent;
  readonly open: boolean;
  readonly onClose: () => void;
}

function RemoveAgent({ agent: { id: userId, login }, open, onClose }: RemoveProps) {
  const { keys } = useWorkspace();
  const { run, isBusy, error, reset } = useChange(
    "DELETE /console/v1/agents/{userId}",
    keys.people("agents"),
  );
  const close = (): void => {
    reset();
    onClose();
  };
  const remove = async (): Promise<void> => {
    if (await run({ path: { userId } }, `${login} is not registered any more`)) close();
  };
  return (
    <Confirm
      open={open}
      title={`Remove ${login}?`}
      action="Remove the agent"
      isBusy={isBusy}
      error={error}
      onCancel={close}
      onConfirm={() => void remove()}
    >
      <p>
        The account then counts as a person: its commits have no owner, and its pull requests are no
        proposals. Well-known agents stay agents.
      </p>
    </Confirm>
  );
}
