import { lazy, Suspense } from "react";
import { RowTable } from "./row-table.tsx";
import type { ChartData } from "./series.ts";
import { useOpen, type Opened } from "./use-open.ts";

// The library of the charts is as large as the rest of the screen, which is shown first.
const Plot = lazy(() => import("./plot.tsx"));

interface Props {
  readonly chart: ChartData;
  readonly asked: Opened | null;
  readonly onOpen: (opened: Opened) => void;
}

/** A chart with its legend, and the same values as a table with the cards and commits behind them. */
export function Chart({ chart, asked, onOpen }: Props) {
  const { id, title, series, rows, shape, empty } = chart;
  const { frame, isOpen, details, row } = useOpen<HTMLElement>(id, asked);
  const hasValues = rows.some(({ values }) => shape === "points" || values.some((value) => value > 0));
  return (
    <section className="trunk-chart" aria-labelledby={`${id}-title`} ref={frame} id={id}>
      <h2 id={`${id}-title`}>{title}</h2>
      {hasValues ? (
        <>
          <ul className="trunk-legend" aria-label={`Colors of ${title}`}>
            {series.map(({ name, tone }) => (
              <li key={name} className="trunk-key" data-tone={tone}>
                {name}
              </li>
            ))}
          </ul>
          <Suspense fallback={<div className="trunk-plot" />}>
            <Plot chart={chart} onPick={(at) => onOpen({ id, row: at })} />
          </Suspense>
          <details className="trunk-details" {...details}>
            <summary>Table, with cards and commits</summary>
            {isOpen && <RowTable chart={chart} picked={row} />}
          </details>
        </>
      ) : (
        <p className="trunk-empty">{empty}</p>
      )}
    </section>
  );
}
