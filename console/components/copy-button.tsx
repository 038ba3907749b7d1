import { useState } from "react";
import { useAnnounce } from "./announcer.tsx";
import { Button } from "./button.tsx";

interface Props {
  readonly text: string;
  /** For example `Copy the key`. */
  readonly label: string;
  /** Where several buttons have the same label: whose text it is, for assistive technology. */
  readonly of?: string;
  readonly kind?: "primary" | "secondary" | "quiet";
}

/** Puts a text into the clipboard. Without access to it, the text on the page can still be selected. */
export function CopyButton({ text, label, of, kind = "secondary" }: Props) {
  const announce = useAnnounce();
  const [copied, setCopied] = useState<string | null>(null);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(text);
      announce("Copied");
    } catch {
      announce("The browser does not allow copying. Select the text instead.");
    }
  };
  return (
    <Button kind={kind} onClick={() => void copy()}>
      {copied === text ? "Copied" : label}
      {of !== undefined && <span className="visually-hidden"> {of}</span>}
    </Button>
  );
}
