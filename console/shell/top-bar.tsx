import type { ReactNode } from "react";
import { Link, useLocation } from "wouter";
import { useInbox } from "../api/reads.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { Button } from "../components/button.tsx";
import { Icon, type IconName } from "../components/icon.tsx";
import { Keys } from "../keyboard/keys.tsx";
import { nounFor } from "../text/counted.ts";
import { BoardSwitcher, ProjectSwitcher } from "./board-switcher.tsx";
import { Brand } from "./brand.tsx";
import { PLACES } from "./places.ts";
import { useAddress } from "./use-project.ts";
import { UserMenu } from "./user-menu.tsx";

interface Props {
  readonly onSearch: () => void;
  readonly onShortcuts: () => void;
}

/** The bar above every screen: which board, its screens, search, connection, user. */
export function TopBar({ onSearch, onShortcuts }: Props) {
  const addressOf = useAddress();
  const { data: inbox } = useInbox();
  const count = inbox?.length ?? 0;
  return (
    <header className="top-bar">
      <Link href={addressOf("")} className="top-bar-brand">
        <Brand isShort />
      </Link>
      <BoardSwitcher />
      <ProjectSwitcher />
      <nav className="top-bar-nav" aria-label="Screens">
        {PLACES.map(({ label, path, icon }) => (
          <Tab key={path} path={path} icon={icon} title={label}>
            <span className="top-bar-tab-text">{label}</span>
            {path === "/inbox" && count > 0 && (
              <span className="top-bar-count">
                {count > 99 ? "99+" : count}
                <span className="visually-hidden"> {nounFor(count, "item")}</span>
              </span>
            )}
          </Tab>
        ))}
      </nav>
      <Button className="top-bar-search" onClick={onSearch} aria-haspopup="dialog">
        <Icon name="search" />
        <span className="top-bar-search-text">Search</span>
        <span className="top-bar-search-keys" aria-hidden="true">
          <Keys keys="Mod+k" />
        </span>
      </Button>
      <Connection />
      <UserMenu onShortcuts={onShortcuts} />
    </header>
  );
}

/** Whether a page belongs to a screen. The board's own address begins all others. */
const isAt = (location: string, href: string): boolean =>
  location === href || (/\/b\/[^/]+\/./.test(href) && location.startsWith(`${href}/`));

interface TabProps {
  /** After the board's address. */
  readonly path: string;
  readonly icon: IconName;
  /** Where there is no room for its text. */
  readonly title: string;
  readonly children: ReactNode;
}

/** A screen's link. It keeps the project of the address. */
function Tab({ path, icon, title, children }: TabProps) {
  const { base } = useWorkspace();
  const [location] = useLocation();
  const addressOf = useAddress();
  return (
    <Link
      href={addressOf(path)}
      className="top-bar-tab"
      title={title}
      aria-current={isAt(location, `${base}${path}`) ? "page" : undefined}
    >
      <Icon name={icon} />
      {children}
    </Link>
  );
}

const CONNECTION = { connecting: "Connecting", live: "Live", offline: "Not connected" } as const;

function Connection() {
  const { feed } = useWorkspace();
  return (
    <span
      className="connection"
      data-state={feed}
      title={`${CONNECTION[feed]}: changes of others appear by themselves while live`}
    >
      <span className="visually-hidden">{CONNECTION[feed]}</span>
    </span>
  );
}
