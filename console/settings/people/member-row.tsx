import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Person } from "../../api/schema.d.ts";
import { SESSION_KEY, type Role } from "../../api/session.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { Avatar } from "../../components/avatar.tsx";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Confirm } from "../../components/dialog/confirm.tsx";
import { Icon } from "../../components/icon.tsx";
import { Menu, MenuGroup, MenuItem } from "../../components/menu.tsx";
import { Ago } from "../../text/time.tsx";
import { Problem } from "../problem.tsx";
import { useChange } from "../use-change.ts";
import { roleName, ROLES } from "./roles.ts";

type Question = { readonly role: Role } | "remove";

/** A member with a menu for the role and a button that removes the member. */
export function MemberRow({ person }: { readonly person: Person }) {
  const { session } = useWorkspace();
  const { login, name, avatarUrl, kind, joinedAt, lastSeenAt, keys } = person;
  const isSelf = person.id === session.user.id;
  const [question, setQuestion] = useState<Question | null>(null);
  const role = useRoleChange(person);
  const isDemotionWithLoss = person.role === "maintainer" && person.monitors.length > 0;
  return (
    <li className="settings-row">
      <div className="settings-row-text">
        <span className="person-name">
          <Avatar name={login} avatarUrl={avatarUrl} kind={kind} isDecorative />
          <strong>
            <bdi>{login}</bdi>
          </strong>
          {name !== login && <bdi className="settings-faint">{name}</bdi>}
          {isSelf && <Badge>you</Badge>}
          {kind === "agent" && <Badge>agent, cannot sign in here</Badge>}
        </span>
        <p className="settings-faint">
          Joined <Ago at={joinedAt} /> ·{" "}
          {lastSeenAt ? (
            <>
              last seen <Ago at={lastSeenAt} />
            </>
          ) : (
            "never signed in"
          )}
          {keys.length > 0 && ` · ${keys.length} API ${keys.length === 1 ? "key" : "keys"}`}
        </p>
        <Problem error={role.error} />
      </div>
      <div className="settings-row-actions">
        <RoleMenu
          person={person}
          isBusy={role.isBusy}
          onChoose={(next) =>
            isSelf || isDemotionWithLoss ? setQuestion({ role: next }) : void role.change(next)
          }
        />
        <Button
          kind="quiet"
          aria-label={isSelf ? "Leave the board" : `Remove ${login}`}
          onClick={() => setQuestion("remove")}
        >
          {isSelf ? "Leave" : "Remove"}
        </Button>
      </div>
      <RemoveQuestion
        person={person}
        isSelf={isSelf}
        open={question === "remove"}
        onClose={() => setQuestion(null)}
      />
      <DemoteQuestion
        person={person}
        isSelf={isSelf}
        role={question === null || question === "remove" ? null : question.role}
        change={role}
        onClose={() => setQuestion(null)}
      />
    </li>
  );
}

interface RoleChange {
  /** True if it succeeded. */
  readonly change: (role: Role) => Promise<boolean>;
  readonly isBusy: boolean;
  readonly error: Error | null;
}

/** After a refusal, the list shows what others have changed. */
function useRoleChange({ id, login, role: from }: Person): RoleChange {
  const { keys } = useWorkspace();
  const queries = useQueryClient();
  const { run, isBusy, error } = useChange("PATCH /console/v1/members/{userId}", keys.people("members"));
  const change = async (role: Role): Promise<boolean> => {
    const received = await run({ path: { userId: id }, body: { role, from } }, `${login} is now ${role}`);
    if (!received) await queries.invalidateQueries({ queryKey: keys.people("members") });
    return received !== undefined;
  };
  return { change, isBusy, error };
}

interface RoleMenuProps {
  readonly person: Person;
  readonly isBusy: boolean;
  readonly onChoose: (role: Role) => void;
}

const RoleMenu = ({ person: { login, role }, isBusy, onChoose }: RoleMenuProps) => (
  <Menu
    align="end"
    trigger={
      <Button isBusy={isBusy} aria-label={`Role of ${login}: ${role}`}>
        {roleName(role)}
        <Icon name="chevron" />
      </Button>
    }
  >
    <MenuGroup label={`Role of ${login}`}>
      {ROLES.map(([each, allows]) => (
        <MenuItem key={each} isChecked={each === role} onSelect={() => each !== role && onChoose(each)}>
          {roleName(each)}
          <span className="menu-reason">{allows}</span>
        </MenuItem>
      ))}
    </MenuGroup>
  </Menu>
);

interface DemoteProps {
  readonly person: Person;
  readonly isSelf: boolean;
  readonly role: Role | null;
  readonly change: RoleChange;
  readonly onClose: () => void;
}

/** A maintainer who gives up the role cannot take it back, and monitors that a demoted one knows stop. */
const DemoteQuestion = ({
  person: { login, monitors },
  isSelf,
  role,
  change: { change, isBusy, error },
  onClose,
}: DemoteProps) => (
  <Confirm
    open={role !== null}
    title={isSelf ? "Give up your own role?" : `Change the role of ${login}?`}
    action={isSelf ? `Become ${role ?? "a member"}` : `Make ${login} a ${role ?? "member"}`}
    isBusy={isBusy}
    error={error}
    onCancel={onClose}
    onConfirm={() => void (role && change(role).then((isDone) => isDone && onClose()))}
  >
    <p>
      {isSelf ? "You" : login} can no longer change settings and members. {isSelf ? "Your" : `The person's`}{" "}
      API keys keep at most this role.
    </p>
    <Stopped what="These monitors stop until a maintainer replaces their secret:" names={monitors} />
  </Confirm>
);

interface RemoveProps {
  readonly person: Person;
  readonly isSelf: boolean;
  readonly open: boolean;
  readonly onClose: () => void;
}

function RemoveQuestion({ person, isSelf, open, onClose }: RemoveProps) {
  const { id, login } = person;
  const { keys } = useWorkspace();
  const queries = useQueryClient();
  const { run, isBusy, error, reset } = useChange(
    "DELETE /console/v1/members/{userId}",
    keys.people("members"),
  );
  const close = (): void => {
    reset();
    onClose();
  };
  const remove = async (): Promise<void> => {
    if (!(await run({ path: { userId: id } }, `${login} is removed`))) return;
    close();
    if (isSelf) await queries.invalidateQueries({ queryKey: SESSION_KEY });
  };
  return (
    <Confirm
      open={open}
      title={isSelf ? "Leave this board?" : `Remove ${login}?`}
      action={isSelf ? "Leave it now" : "Remove from the board"}
      isBusy={isBusy}
      error={error}
      onCancel={close}
      onConfirm={() => void remove()}
    >
      <p>
        {isSelf ? "You lose" : `${login} loses`} access to this board at once, in every open tab. Armed moves,
        promotions and claims end. Invitations that {isSelf ? "you" : login} sent and nobody has accepted are
        withdrawn. Cards, comments and pages stay.
      </p>
      <Stopped what="These API keys stop working here:" names={person.keys} />
      <Stopped what="These webhooks pause until a maintainer resumes them:" names={person.webhooks} />
      <Stopped what="These monitors stop until a maintainer replaces their secret:" names={person.monitors} />
      <p>
        Keys without an owner keep working. Rotate those that {isSelf ? "you know" : `${login} may know`}.
      </p>
    </Confirm>
  );
}

/** What ends with the membership, because the member knows it. */
const Stopped = ({ what, names }: { readonly what: string; readonly names: readonly string[] }) =>
  names.length > 0 && (
    <>
      <p className="person-consequence">{what}</p>
      <ul className="person-keys">
        {names.map((name, at) => (
          <li key={`${name} ${at}`}>
            <bdi>{name}</bdi>
          </li>
        ))}
      </ul>
    </>
  );
