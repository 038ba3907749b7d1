import { useId } from "react";
import { ALL_KINDS, KINDS, SUBJECTS, type Kind } from "./kinds.ts";

interface Props {
  /** Null for all kinds. */
  readonly chosen: readonly Kind[] | null;
  readonly onChoose: (kinds: readonly Kind[] | null) => void;
  readonly problem: string | undefined;
}

/** Which kinds of events are sent: all, also new ones, or some. */
export function KindChoice({ chosen, onChoose, problem }: Props) {
  const name = useId();
  const toggle = (kind: Kind): void => {
    const isChosen = chosen?.includes(kind);
    onChoose(ALL_KINDS.filter((each) => (each === kind ? !isChosen : chosen?.includes(each))));
  };
  return (
    <fieldset className="kinds">
      <legend className="field-label">Events</legend>
      <label className="kind">
        <input type="radio" name={name} checked={chosen === null} onChange={() => onChoose(null)} />
        All, also kinds that are added later
      </label>
      <label className="kind">
        <input type="radio" name={name} checked={chosen !== null} onChange={() => onChoose([])} />
        Only these
      </label>
      {problem !== undefined && (
        <p className="webhook-problem" role="alert">
          {problem}
        </p>
      )}
      {chosen !== null && (
        <div className="kinds-list">
          {SUBJECTS.map((subject) => (
            <div key={subject} role="group" aria-label={subject}>
              <p className="kinds-subject">{subject}</p>
              {ALL_KINDS.filter((kind) => KINDS[kind][0] === subject).map((kind) => (
                <label key={kind} className="kind">
                  <input type="checkbox" checked={chosen.includes(kind)} onChange={() => toggle(kind)} />
                  <span>
                    {KINDS[kind][1]} <code>{kind}</code>
                  </span>
                </label>
              ))}
            </div>
          ))}
        </div>
      )}
    </fieldset>
  );
}
