import { useEffect, useRef, useState } from "react";

/** What a number or a bar opens: the table of a chart or a list, with one of its rows marked. */
export interface Opened {
  readonly id: string;
  readonly row: number | null;
}

/** Whether the details of `id` are open. When they are asked for, they open and get the focus. */
export function useOpen<Frame extends HTMLElement>(id: string, asked: Opened | null) {
  const frame = useRef<Frame>(null);
  const [isOpen, setIsOpen] = useState(false);
  const [seen, setSeen] = useState<Opened | null>(null);
  if (asked !== seen) {
    setSeen(asked);
    if (asked?.id === id) setIsOpen(true);
  }
  useEffect(() => {
    if (asked?.id !== id) return;
    const find = (selector: string) => frame.current?.querySelector<HTMLElement>(selector);
    const target = find("[data-picked]") ?? find("summary");
    target?.focus({ preventScroll: true });
    (asked.row === null ? frame.current : target)?.scrollIntoView({ block: "nearest" });
  }, [id, asked]);
  const details = {
    open: isOpen,
    onToggle: ({ currentTarget }: { readonly currentTarget: HTMLDetailsElement }) =>
      setIsOpen(currentTarget.open),
  };
  return { frame, isOpen, details, row: asked?.id === id ? asked.row : null };
}
