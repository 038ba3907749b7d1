import { cardsOf } from "../text/counted.ts";

interface Props {
  readonly label: string;
  readonly value: number;
  readonly total: number;
  /** What is true of the counted cards, for example `done`. */
  readonly state?: string;
}

/** A bar with its numbers of cards. */
export const Progress = ({ label, value, total, state = "" }: Props) => (
  <div className="release-progress">
    <progress className="release-bar" aria-label={label} value={value} max={Math.max(total, 1)} />
    <span className="release-progress-text">
      {value} of {cardsOf(total)} {state}
    </span>
  </div>
);
