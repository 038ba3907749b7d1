import { useState } from "react";
import "./avatar.css";

interface Props {
  readonly name: string;
  readonly avatarUrl?: string | null;
  /** Agents and machines have a square picture. */
  readonly kind?: "human" | "machine" | "agent";
  /** Without its own name, next to a text that names the user. */
  readonly isDecorative?: boolean;
}

/** A user's picture, or the first letters of the name without a picture. */
export function Avatar({ name, avatarUrl = null, kind = "human", isDecorative = false }: Props) {
  const [broken, setBroken] = useState<string | null>(null);
  return (
    <span
      className="avatar"
      data-kind={kind}
      {...(isDecorative ? { "aria-hidden": true } : { role: "img", "aria-label": name, title: name })}
    >
      {avatarUrl !== null && avatarUrl !== broken ? (
        <img className="avatar-image" src={avatarUrl} alt="" onError={() => setBroken(avatarUrl)} />
      ) : (
        lettersOf(name)
      )}
    </span>
  );
}

function lettersOf(name: string): string {
  const [first = "?", second = ""] = name.split(/[\s._-]+/).filter(Boolean);
  return firstOf(first) + firstOf(second);
}

const firstOf = (word: string): string => String.fromCodePoint(word.codePointAt(0) ?? 32).trim();
