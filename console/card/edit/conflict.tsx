import { Button } from "../../components/button.tsx";
import { Icon } from "../../components/icon.tsx";
import type { TextEdit } from "./use-text-edit.ts";
import "../../components/form.css";

interface Props<Name extends string> {
  readonly field: Name;
  /** The field in a sentence. */
  readonly noun: string;
  readonly theirs: string;
  readonly edit: TextEdit<Name>;
}

/** What somebody else wrote meanwhile, below the user's own text. */
export const Conflict = <Name extends string>({ field, noun, theirs, edit }: Props<Name>) => (
  <div className="conflict" role="alert">
    <p className="conflict-head">
      <Icon name="alert" />
      Somebody changed the {noun} while you were editing. Now it is:
    </p>
    <pre className="conflict-theirs" dir="auto" tabIndex={0}>
      {theirs === "" ? "(empty)" : theirs}
    </pre>
    <div className="form-actions">
      <Button onClick={() => edit.resolve(field, "mine")}>Keep my {noun}</Button>
      <Button onClick={() => edit.resolve(field, "theirs")}>Use the new {noun}</Button>
    </div>
  </div>
);
