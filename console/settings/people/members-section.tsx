import { useRead } from "../../api/reads.ts";
import { hasRole } from "../../api/session.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { Avatar } from "../../components/avatar.tsx";
import { SectionHead } from "../section-head.tsx";
import { Invitations } from "./invitations.tsx";
import { InviteForm } from "./invite-form.tsx";
import { LIST_OPTIONS } from "./list-options.ts";
import { MemberRow } from "./member-row.tsx";
import { roleName } from "./roles.ts";
import { Waiting } from "./waiting.tsx";
import "./people.css";

/** The people on the board. Maintainers manage them, others see who they are. */
export default function MembersSection() {
  const { board } = useWorkspace();
  const isMaintainer = hasRole(board.role, "maintainer");
  return (
    <>
      <SectionHead
        title="Members"
        about={
          isMaintainer
            ? "People join by signing in with GitHub. API keys and agents have sections of their own."
            : `Your role is ${board.role}. Only maintainers invite people, change roles and remove members.`
        }
      />
      {isMaintainer ? (
        <>
          <InviteForm />
          <Invitations />
          <Members />
        </>
      ) : (
        <ReadOnlyMembers />
      )}
    </>
  );
}

function Members() {
  const { keys } = useWorkspace();
  const { data, error, refetch } = useRead(
    keys.people("members"),
    "GET /console/v1/people",
    {},
    LIST_OPTIONS,
  );
  return (
    <section className="settings-part" aria-labelledby="members">
      <h2 id="members">On this board</h2>
      {data ? (
        <ul className="settings-rows">
          {data.map((person) => (
            <MemberRow key={person.id} person={person} />
          ))}
        </ul>
      ) : (
        <Waiting what="the members" error={error} onRetry={() => void refetch()} />
      )}
    </section>
  );
}

function ReadOnlyMembers() {
  const { keys } = useWorkspace();
  const { data, error, refetch } = useRead(keys.list("members"), "GET /v1/members", {}, { all: true });
  if (!data) return <Waiting what="the members" error={error} onRetry={() => void refetch()} />;
  return (
    <ul className="settings-rows" aria-label="Members">
      {data
        .filter(({ kind }) => kind !== "machine")
        .map(({ id, name, avatarUrl, kind, role }) => (
          <li key={id} className="settings-row">
            <span className="person-name">
              <Avatar name={name} avatarUrl={avatarUrl} kind={kind} isDecorative />
              <bdi>{name}</bdi>
            </span>
            <span className="settings-faint">{roleName(role)}</span>
          </li>
        ))}
    </ul>
  );
}
