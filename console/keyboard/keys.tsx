import { Fragment } from "react";

const isApple = (): boolean => /Mac|iPhone|iPad/.test(navigator.userAgent);

/** Keys as a user reads them: `Ctrl K`, `g then b`. */
export const Keys = ({ keys }: { readonly keys: string }) =>
  keys.split(" ").map((step, index) => (
    <Fragment key={step}>
      {index > 0 && <span className="keys-then"> then </span>}
      {step.split("+").map((key) => (
        <kbd key={key}>
          {key === "Mod"
            ? isApple()
              ? "⌘"
              : "Ctrl"
            : key.length === 1 && step !== key
              ? key.toUpperCase()
              : key}
        </kbd>
      ))}
    </Fragment>
  ));
