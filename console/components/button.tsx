import type { ButtonHTMLAttributes, Ref } from "react";
import "./button.css";

type Kind = "primary" | "secondary" | "quiet" | "danger";

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly kind?: Kind;
  /** Says that the action runs; further presses have no effect, and the focus stays. */
  readonly isBusy?: boolean;
  readonly ref?: Ref<HTMLButtonElement>;
}

/** A button. A link that looks like one has the class names of `buttonClass`. */
export function Button({ kind = "secondary", isBusy = false, className, onClick, ...rest }: Props) {
  return (
    <button
      type="button"
      {...rest}
      className={[buttonClass(kind), className].filter(Boolean).join(" ")}
      aria-disabled={isBusy || rest["aria-disabled"] || undefined}
      data-busy={isBusy || undefined}
      onClick={isBusy ? (event) => event.preventDefault() : onClick}
    />
  );
}

export const buttonClass = (kind: Kind = "secondary"): string => `button button-${kind}`;
