interface Props {
  readonly label: string;
  readonly value: number;
  readonly total: number;
  /** What is counted, for example `cards done`. */
  readonly unit: string;
}

/** A bar with its numbers. */
export const Progress = ({ label, value, total, unit }: Props) => (
  <div className="release-progress">
    <progress className="release-bar" aria-label={label} value={value} max={Math.max(total, 1)} />
    <span className="release-progress-text">
      {value} of {total} {unit}
    </span>
  </div>
);
