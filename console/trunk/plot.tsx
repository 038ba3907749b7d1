import { useEffect, useRef, useState } from "react";
import UPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { ChartData, Row } from "./series.ts";

const HEIGHT = 190;
const HALF_DAY = 43_200;
/** Steps of the vertical axis of counts. */
const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000];
/** Steps of the horizontal axis of days, in seconds. */
const DAYS = [1, 2, 3, 4, 7, 14, 28].map((days) => days * 2 * HALF_DAY);
/** The width of a name below the axis, in characters. */
const NAME_LENGTH = 14;

interface Props {
  readonly chart: ChartData;
  /** Opens what is behind a point. */
  readonly onPick: (index: number) => void;
}

/** A chart on a canvas. Its table is what assistive technology and the keyboard use. */
export default function Plot({ chart, onPick }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const pick = useRef(onPick);
  const [pointed, setPointed] = useState<number | null>(null);
  useEffect(() => {
    pick.current = onPick;
  });
  useEffect(() => {
    if (!place.current) return;
    return draw(place.current, chart, setPointed, (index) => pick.current(index));
  }, [chart]);
  const row = pointed === null ? undefined : chart.rows[pointed];
  return (
    <>
      <p className="trunk-pointed" aria-hidden="true">
        {row ? sentenceOf(chart, row) : ""}
      </p>
      <div className="trunk-plot" ref={place} role="img" aria-label={`${chart.title}, as in the table`} />
    </>
  );
}

export const sentenceOf = ({ series }: ChartData, { label, values }: Row): string =>
  `${label}: ${series.map(({ name }, at) => `${values[at]} ${name}`).join(", ")}`;

/** Draws the chart and keeps its size and colors current. Returns what removes it. */
function draw(
  place: HTMLElement,
  chart: ChartData,
  onPoint: (index: number | null) => void,
  onPick: (index: number) => void,
): () => void {
  const options = { ...optionsOf(chart, place, onPoint), width: place.clientWidth, height: HEIGHT };
  const plot = new UPlot(options, dataOf(chart), place);
  const click = (): void => {
    if (plot.cursor.idx !== null && plot.cursor.idx !== undefined) onPick(plot.cursor.idx);
  };
  plot.over.addEventListener("click", click);
  const sizes = new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height: HEIGHT }));
  sizes.observe(place);
  const repaint = (): void => plot.redraw();
  const scheme = window.matchMedia("(prefers-color-scheme: dark)");
  scheme.addEventListener("change", repaint);
  const theme = new MutationObserver(repaint);
  theme.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return () => {
    sizes.disconnect();
    theme.disconnect();
    scheme.removeEventListener("change", repaint);
    plot.destroy();
    onPoint(null);
  };
}

/** Bars are stacked by drawing the sums first and the smaller ones over them. */
function dataOf({ rows, series }: ChartData): UPlot.AlignedData {
  const sums = series.map((_, at) =>
    rows.map(({ values }) => values.slice(0, at + 1).reduce((sum, value) => sum + value, 0)),
  );
  return [rows.map(({ x }) => x), ...sums.toReversed()];
}

function optionsOf(
  chart: ChartData,
  place: HTMLElement,
  onPoint: (index: number | null) => void,
): UPlot.Options {
  const { series, span, shape, rows } = chart;
  const color = (name: string) => (): string => colorOf(place, name);
  const isBars = shape === "bars";
  const bars = UPlot.paths.bars?.({ size: [0.7, 36] });
  const most = Math.max(1, ...rows.map(({ values }) => values.reduce((sum, value) => sum + value, 0)));
  const axis = {
    stroke: color("--ink-soft"),
    font: `11px ${getComputedStyle(place).fontFamily}`,
    grid: { stroke: color("--line"), width: 1 },
    ticks: { show: false },
  };
  const days = {
    incrs: DAYS,
    values: (_: UPlot, splits: readonly number[]) => splits.map(dayName),
  };
  const names = {
    splits: () => rows.map(({ x }) => x),
    values: () => rows.map(({ label }) => shortened(label)),
  };
  return {
    width: 0,
    height: HEIGHT,
    legend: { show: false },
    padding: [8, 12, 0, 0],
    tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1_000), "Etc/UTC"),
    cursor: { y: false, drag: { x: false, y: false }, points: { show: !isBars } },
    scales: {
      x: {
        time: span !== null,
        range: span
          ? [span[0] - (isBars ? HALF_DAY : 0), span[1] - (isBars ? HALF_DAY : 0)]
          : [-0.5, rows.length - 0.5],
      },
      y: { range: [0, most * 1.1] },
    },
    axes: [
      { ...axis, grid: { show: false }, space: 70, size: 28, ...(span === null ? names : days) },
      { ...axis, size: 40, ...(isBars && { incrs: WHOLE }) },
    ],
    series: [
      {},
      ...series.toReversed().map(({ tone }) => ({
        stroke: color(tone),
        ...(isBars
          ? { fill: color(tone), width: 0, ...(bars && { paths: bars }), points: { show: false } }
          : { paths: () => null, points: { show: true, size: 8, fill: color(tone), stroke: color(tone) } }),
      })),
    ],
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
  };
}

const dayName = (seconds: number): string =>
  new Intl.DateTimeFormat("en", { month: "short", day: "numeric", timeZone: "UTC" }).format(seconds * 1_000);

function shortened(label: string): string {
  const characters = Array.from(label);
  return characters.length > NAME_LENGTH ? `${characters.slice(0, NAME_LENGTH - 1).join("")}…` : label;
}

/** A token as the browser computes it for the current color scheme; a canvas does not know `var()`. */
function colorOf(place: HTMLElement, name: string): string {
  place.style.color = `var(${name})`;
  const { color } = getComputedStyle(place);
  place.style.color = "";
  return color;
}
