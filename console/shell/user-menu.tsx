import { useState } from "react";
import { messageOf } from "../api/problem.ts";
import { signOut } from "../api/session.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { Avatar } from "../components/avatar.tsx";
import { Button } from "../components/button.tsx";
import { Menu, MenuGroup, MenuItem, MenuLink, MenuSeparator } from "../components/menu.tsx";
import { useToast } from "../components/toast.tsx";
import { chooseTheme, storedTheme, type Theme } from "./theme.ts";

const THEMES: readonly (readonly [Theme, string])[] = [
  ["system", "As the system"],
  ["light", "Light"],
  ["dark", "Dark"],
];

/** The user: colors, shortcuts, reference of the API, sign-out. */
export function UserMenu({ onShortcuts }: { readonly onShortcuts: () => void }) {
  const { session, board } = useWorkspace();
  const [theme, setTheme] = useState(storedTheme);
  const toast = useToast();
  const leave = (): void => {
    signOut().catch((error: unknown) =>
      toast({ kind: "failed", title: "You are still signed in", description: messageOf(error) }),
    );
  };
  const { name, login, avatarUrl } = session.user;
  return (
    <Menu
      align="end"
      trigger={
        <Button kind="quiet" className="user-button">
          <Avatar name={name} avatarUrl={avatarUrl} isDecorative />
          <span className="visually-hidden">{name}: settings and sign-out</span>
        </Button>
      }
    >
      <MenuGroup label={`${login} · ${board.role}`}>
        <MenuItem onSelect={onShortcuts}>Keyboard shortcuts</MenuItem>
        {session.isOperator && <MenuLink href="/operations">Operations</MenuLink>}
        <MenuItem onSelect={() => window.location.assign("/docs")}>API reference</MenuItem>
      </MenuGroup>
      <MenuSeparator />
      <MenuGroup label="Colors">
        {THEMES.map(([value, label]) => (
          <MenuItem
            key={value}
            isChecked={theme === value}
            onSelect={() => {
              chooseTheme(value);
              setTheme(value);
            }}
          >
            {label}
          </MenuItem>
        ))}
      </MenuGroup>
      <MenuSeparator />
      <MenuItem onSelect={leave}>Sign out</MenuItem>
    </Menu>
  );
}
