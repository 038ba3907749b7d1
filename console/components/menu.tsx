import { cloneElement, createContext, useContext, useEffect, useState, type ComponentProps } from "react";
import { useHeldKeys } from "../keyboard/use-held-keys.ts";
import type * as MenuParts from "./menu-parts.tsx";
import type { MenuProps } from "./menu-parts.tsx";

type Parts = typeof MenuParts;

/** Menus are a quarter of the code of a page and not needed to show it: they are loaded after it. */
export const loadMenus = (): Promise<Parts> => import("./menu-parts.tsx");

const PartsContext = createContext<Parts | null>(null);

/** A menu of actions or places. The focus returns to its button when it closes. */
export function Menu({ trigger, open, onOpenChange, ...rest }: MenuProps) {
  const [isOpen, setIsOpen] = useState(false);
  const [parts, setParts] = useState<Parts | null>(null);
  const change = (next: boolean): void => {
    setIsOpen(next);
    onOpenChange?.(next);
  };
  const load = (): void => void loadMenus().then(setParts);
  useHeldKeys(open ?? isOpen, () => change(false));
  useEffect(() => {
    if (open) load();
  }, [open]);
  if (parts) {
    return (
      <PartsContext value={parts}>
        <parts.MenuRoot trigger={trigger} open={open ?? isOpen} onOpenChange={change} {...rest} />
      </PartsContext>
    );
  }
  return cloneElement(trigger, {
    "aria-haspopup": "menu",
    "aria-expanded": false,
    onClick: () => {
      load();
      change(true);
    },
  });
}

export function MenuItem(props: ComponentProps<Parts["MenuItem"]>) {
  const parts = useContext(PartsContext);
  return parts && <parts.MenuItem {...props} />;
}

export function MenuLink(props: ComponentProps<Parts["MenuLink"]>) {
  const parts = useContext(PartsContext);
  return parts && <parts.MenuLink {...props} />;
}

export function MenuGroup(props: ComponentProps<Parts["MenuGroup"]>) {
  const parts = useContext(PartsContext);
  return parts && <parts.MenuGroup {...props} />;
}

export function MenuSeparator() {
  const parts = useContext(PartsContext);
  return parts && <parts.MenuSeparator />;
}
