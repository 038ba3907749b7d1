import { useLocation } from "wouter";
import { addressOfBoard, useWorkspace } from "../api/workspace.tsx";
import { Button } from "../components/button.tsx";
import { Icon } from "../components/icon.tsx";
import { Menu, MenuGroup, MenuLink } from "../components/menu.tsx";
import { useAddress, useProject } from "./use-project.ts";

/** The name of the board, and the user's other boards. */
export function BoardSwitcher() {
  const { session, board } = useWorkspace();
  const { projects } = useProject();
  return (
    <Menu
      trigger={
        <Button kind="quiet" className="switcher">
          <span className="visually-hidden">Board: </span>
          <strong className="switcher-name">{board.name}</strong>
          <Icon name="chevron" />
        </Button>
      }
    >
      <MenuGroup label="Boards">
        {session.boards.map((each) => (
          <MenuLink
            key={each.workspaceId}
            href={`/b/${addressOfBoard(session, each)}`}
            isChecked={each.workspaceId === board.workspaceId}
          >
            {each.name}
          </MenuLink>
        ))}
      </MenuGroup>
      {projects.length < 2 && <NewProject />}
    </Menu>
  );
}

/** The way to another project, for maintainers. */
function NewProject() {
  const { board } = useWorkspace();
  const addressOf = useAddress();
  return (
    board.role === "maintainer" && (
      <MenuLink href={addressOf("/settings/projects", { new: "project" })}>New project…</MenuLink>
    )
  );
}

/** The project of the board and backlog, if there are several. */
export function ProjectSwitcher() {
  const { project, projects } = useProject();
  const [location] = useLocation();
  const { base } = useWorkspace();
  if (projects.length < 2) return null;
  // A card or a release belongs to one project, so another project starts with its board.
  const isOfOneProject = /\/(?:cards|releases)\/[^/]+$/.test(location);
  const page = isOfOneProject ? base : location;
  return (
    <Menu
      trigger={
        <Button kind="quiet" className="switcher">
          <span className="visually-hidden">Project: </span>
          <span className="switcher-name">{project?.name ?? "unknown"}</span>
          <Icon name="chevron" />
        </Button>
      }
    >
      <MenuGroup label="Projects">
        {projects.map(({ id, slug, name }) => (
          <MenuLink
            key={id}
            href={`${page}?project=${encodeURIComponent(slug)}`}
            isChecked={id === project?.id}
          >
            {name}
          </MenuLink>
        ))}
      </MenuGroup>
      <NewProject />
    </Menu>
  );
}
