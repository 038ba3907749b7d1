import { Fragment } from "react";

const isApple = (): boolean => /Mac|iPhone|iPad/.test(navigator.userAgent);

const ARROWS: Readonly<Record<string, string>> = {
  ArrowLeft: "←",
  ArrowUp: "↑",
  ArrowRight: "→",
  ArrowDown: "↓",
};

/** Keys as a user reads them: `Ctrl K`, `g then b`. */
export const Keys = ({ keys }: { readonly keys: string }) =>
  keys.split(" ").map((step, index) => (
    <Fragment key={step}>
      {index > 0 && <span className="keys-then"> then </span>}
      {step.split("+").map((key) => (
        <kbd key={key}>
          <KeyName name={key} isCombined={step !== key} />
        </kbd>
      ))}
    </Fragment>
  ));

function KeyName({ name, isCombined }: { readonly name: string; readonly isCombined: boolean }) {
  const arrow = ARROWS[name];
  if (arrow !== undefined)
    return (
      <>
        <span aria-hidden="true">{arrow}</span>
        <span className="visually-hidden">{name.replace("Arrow", "Arrow ").toLowerCase()}</span>
      </>
    );
  if (name === "Mod") return isApple() ? "⌘" : "Ctrl";
  return name.length === 1 && isCombined ? name.toUpperCase() : name;
}
