import "../components/field.css";
import { Button } from "../components/button.tsx";
import { daysAgo, PRESETS, type useRange } from "./range.ts";

interface Props {
  readonly range: ReturnType<typeof useRange>;
  /** The days that the report has. */
  readonly shown: { readonly from: string; readonly to: string } | undefined;
  readonly repositories: readonly string[];
}

/** Which days and which repository the report is about. */
export function RangeBar({ range, shown, repositories }: Props) {
  const { from, to, repository, set } = range;
  return (
    <div className="trunk-range" role="group" aria-label="Days and repository">
      {PRESETS.map((days) => (
        <Button
          key={days}
          aria-pressed={to === null && from === startOf(days)}
          onClick={() => set({ from: startOf(days), to: null })}
        >
          {days} days
        </Button>
      ))}
      <Day label="From" value={from ?? shown?.from ?? ""} onChange={(day) => set({ from: day })} />
      <Day label="To" value={to ?? shown?.to ?? ""} onChange={(day) => set({ to: day })} />
      <label className="trunk-field">
        Repository
        <select
          className="field-control"
          value={repository ?? ""}
          onChange={(event) => set({ repository: event.target.value })}
        >
          <option value="">All repositories</option>
          {repositories.map((fullName) => (
            <option key={fullName} value={fullName}>
              {fullName}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}

/** The report has 30 days unless it is asked for others. */
const startOf = (days: number): string | null => (days === 30 ? null : daysAgo(days));

interface DayProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (day: string) => void;
}

const Day = ({ label, value, onChange }: DayProps) => (
  <label className="trunk-field">
    {label}
    <input
      type="date"
      className="field-control"
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  </label>
);
