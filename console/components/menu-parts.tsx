import { Menu as Base } from "@base-ui/react/menu";
import {
  useEffect,
  useRef,
  useState,
  type ButtonHTMLAttributes,
  type ReactElement,
  type ReactNode,
} from "react";
import { useLocation } from "wouter";
import { Icon } from "./icon.tsx";
import "./menu.css";

export interface MenuProps {
  /** The button that opens the menu. It has its own name. */
  readonly trigger: ReactElement<ButtonHTMLAttributes<HTMLButtonElement>>;
  readonly children: ReactNode;
  readonly align?: "start" | "end";
  /** With `onOpenChange`: the component above decides whether it is open. */
  readonly open?: boolean;
  readonly onOpenChange?: (open: boolean) => void;
}

/** The menu itself; see `Menu`. It opens when its button is on the page, beside which it is placed. */
export function MenuRoot({ trigger, children, align = "start", open = false, onOpenChange }: MenuProps) {
  const [isMounted, setIsMounted] = useState(false);
  useEffect(() => setIsMounted(true), []);
  return (
    <Base.Root modal={false} open={open && isMounted} onOpenChange={(next) => onOpenChange?.(next)}>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner className="menu-positioner" align={align} sideOffset={4}>
          <Popup>{children}</Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

/**
 * Takes the focus before it has its place on the page, which takes a while: its first item for a keyboard. Returns it to
 * where it was, unless an item moved it: arrow keys on a card go to the next one, but on the button of its menu they
 * open the menu again.
 */
function Popup({ children }: { readonly children: ReactNode }) {
  const menu = useRef<HTMLDivElement>(null);
  const before = useRef<Element>(null);
  useEffect(() => {
    before.current = document.activeElement;
    const isKeyboard = document.activeElement?.matches(":focus-visible");
    const first = menu.current?.querySelector<HTMLElement>('[role="menuitem"]:not([aria-disabled="true"])');
    (isKeyboard && first ? first : menu.current)?.focus({ preventScroll: true });
  }, []);
  return (
    <Base.Popup className="menu" ref={menu} finalFocus={() => hasFocus() && focusable(before.current)}>
      {children}
    </Base.Popup>
  );
}

/** Whether the menu still has the focus, or nothing has it because the menu is gone. */
const hasFocus = (): boolean =>
  document.activeElement === document.body || Boolean(document.activeElement?.closest('[role="menu"]'));

/** Null, which stands for the button of the menu, if the element is not on the page any more. */
const focusable = (element: Element | null): HTMLElement | null =>
  element instanceof HTMLElement && element.isConnected && element !== document.body ? element : null;

interface ItemProps {
  readonly onSelect: () => void;
  readonly children: ReactNode;
  /** Why the action is not available. The item stays in the list and shows it. */
  readonly unavailable?: string | undefined;
  readonly isChecked?: boolean;
  /** Keeps the menu open, for a choice of several. */
  readonly staysOpen?: boolean;
}

export const MenuItem = ({ onSelect, children, unavailable, isChecked, staysOpen = false }: ItemProps) => (
  <Base.Item
    className="menu-item"
    disabled={unavailable !== undefined}
    closeOnClick={!staysOpen}
    onClick={onSelect}
  >
    <span className="menu-check">{isChecked && <Icon name="check" />}</span>
    <span className="menu-text">
      {children}
      {isChecked && <span className="visually-hidden"> (current)</span>}
      {unavailable !== undefined && <span className="menu-reason">{unavailable}</span>}
    </span>
  </Base.Item>
);

/** An entry that opens a page of the console. */
export function MenuLink({
  href,
  children,
  isChecked = false,
}: {
  href: string;
  children: ReactNode;
  isChecked?: boolean;
}) {
  const [, navigate] = useLocation();
  return (
    <MenuItem onSelect={() => navigate(href)} isChecked={isChecked}>
      {children}
    </MenuItem>
  );
}

export const MenuSeparator = () => <Base.Separator className="menu-separator" />;

export const MenuGroup = ({ label, children }: { label: string; children: ReactNode }) => (
  <Base.Group>
    <Base.GroupLabel className="menu-label">{label}</Base.GroupLabel>
    {children}
  </Base.Group>
);
