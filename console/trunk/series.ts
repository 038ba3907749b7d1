import type { Project, Release, TrunkReport } from "../api/schema.d.ts";
import { counted } from "../text/counted.ts";

/** `earlier` landed before the project existed, when Trunkline could not merge it. */
export type Landing = Omit<TrunkReport["landings"][number], "via"> & {
  readonly via: "service" | "outside" | "earlier";
};
export type Report = Omit<TrunkReport, "landings"> & { readonly landings: readonly Landing[] };
export type Delivered = TrunkReport["delivered"][number];
export type Promised = TrunkReport["promised"][number];

/** A color of tokens.css. */
export type Tone = "--accent" | "--warning" | "--success" | "--ink-faint";

/** A point or bar of a chart, and the row of its table. */
export interface Row {
  readonly label: string;
  /** Seconds since 1970 on a chart over time, else the position. */
  readonly x: number;
  /** A value of each series. */
  readonly values: readonly number[];
  /** Behind the values. */
  readonly landings?: readonly Landing[];
  readonly delivered?: readonly Delivered[];
  readonly promised?: readonly Promised[];
  /** The release that the row is about. */
  readonly releaseId?: string;
}

/** What a chart draws, and its table lists. */
export interface ChartData {
  readonly id: string;
  readonly title: string;
  /** The name of the rows in the table. */
  readonly of: string;
  /** `bars` are stacked. */
  readonly shape: "bars" | "points";
  readonly series: readonly { readonly name: string; readonly tone: Tone }[];
  readonly rows: readonly Row[];
  /** The ends of the horizontal axis in seconds; null for an axis of names. */
  readonly span: readonly [number, number] | null;
  /** What the chart says when it has no values. */
  readonly empty: string;
}

const DAY = 86_400;

/** Whole days in UTC, in seconds. `to` is the last one. */
export function daysOf({ from, to }: Pick<TrunkReport, "from" | "to">): number[] {
  const days: number[] = [];
  for (let day = secondsOf(from); day <= secondsOf(to); day += DAY) days.push(day);
  return days;
}

const secondsOf = (at: string): number => Date.parse(at) / 1_000;
const dayOf = (at: string): string => at.slice(0, 10);
const spanOf = ({ from, to }: Pick<TrunkReport, "from" | "to">): readonly [number, number] => [
  secondsOf(from),
  secondsOf(to) + DAY,
];

/** The report with what landed before the project existed marked. Dates of commits are whole seconds. */
export function markEarlier(report: TrunkReport, { createdAt }: Pick<Project, "createdAt">): Report {
  const start = Math.floor(secondsOf(createdAt));
  const landings = report.landings.map((landing): Landing => {
    const isEarlier = landing.via === "outside" && secondsOf(landing.at) < start;
    return isEarlier ? { ...landing, via: "earlier" } : landing;
  });
  return { ...report, landings };
}

/** The report of one repository. The refusals and promises of a report have no repository. */
export function ofRepository(report: Report, fullName: string): Report {
  return {
    ...report,
    landings: report.landings.filter((landing) => landing.fullName === fullName),
    delivered: report.delivered.filter(({ repositories }) =>
      repositories.some((each) => each.fullName === fullName),
    ),
  };
}

/** The names of all repositories in a report. */
export const repositoriesOf = ({ landings, delivered }: TrunkReport): string[] =>
  [
    ...new Set([
      ...landings.map(({ fullName }) => fullName),
      ...delivered.flatMap(({ repositories }) => repositories.map(({ fullName }) => fullName)),
    ]),
  ].toSorted((one, other) => one.localeCompare(other));

function groupBy<Each>(all: readonly Each[], keyOf: (each: Each) => string): ReadonlyMap<string, Each[]> {
  const groups = new Map<string, Each[]>();
  for (const each of all) {
    const group = groups.get(keyOf(each));
    if (group) group.push(each);
    else groups.set(keyOf(each), [each]);
  }
  return groups;
}

function byDay(
  report: Report,
  landings: readonly Landing[],
  count: (ofDay: readonly Landing[]) => readonly number[],
): Row[] {
  const days = groupBy(landings, ({ at }) => dayOf(at));
  return daysOf(report).map((x) => {
    const label = new Date(x * 1_000).toISOString().slice(0, 10);
    const ofDay = days.get(label) ?? [];
    return { label, x, values: count(ofDay), landings: ofDay };
  });
}

const countOf = <Each>(all: readonly Each[], fits: (each: Each) => boolean): number =>
  all.filter(fits).length;

export const isOutside = ({ via }: Landing): boolean => via === "outside";

const ORIGINS = [
  { via: "service", name: "merged by Trunkline", tone: "--accent" },
  { via: "outside", name: "outside of Trunkline", tone: "--warning" },
  { via: "earlier", name: "before this project", tone: "--ink-faint" },
] as const;

export function landingsOverTime(report: Report): ChartData {
  const has = (via: Landing["via"]): boolean => report.landings.some((landing) => landing.via === via);
  const shown = ORIGINS.filter(({ via }) => via !== "earlier" || has(via));
  return {
    id: "landings",
    title: "Landings",
    of: "Day",
    shape: "bars",
    series: shown,
    rows: byDay(report, report.landings, (ofDay) =>
      shown.map((origin) => countOf(ofDay, ({ via }) => via === origin.via)),
    ),
    span: spanOf(report),
    empty: "Nothing landed in these days.",
  };
}

export const outsideLandings = (report: Report): ChartData => ({
  id: "outside",
  title: "Landings outside of Trunkline",
  of: "Day",
  shape: "bars",
  series: [
    { name: "merged pull requests", tone: "--warning" },
    { name: "direct pushes", tone: "--ink-faint" },
  ],
  rows: byDay(report, report.landings.filter(isOutside), (ofDay) => [
    countOf(ofDay, ({ prNumber }) => prNumber !== null),
    countOf(ofDay, ({ prNumber }) => prNumber === null),
  ]),
  span: spanOf(report),
  empty: "Nothing landed outside of Trunkline in these days.",
});

export function leadTimes(report: Report): ChartData {
  const unit = unitFor(Math.max(0, ...report.delivered.map(({ leadTimeDays }) => leadTimeDays)));
  return {
    id: "lead-time",
    title: "Lead time of delivered cards",
    of: "Delivered",
    shape: "points",
    series: [{ name: `${unit.name} from the backlog to the end of the flow`, tone: "--accent" }],
    rows: report.delivered.toReversed().map((card) => ({
      label: `${dayOf(card.deliveredAt)} #${card.number}`,
      x: secondsOf(card.deliveredAt),
      values: [Math.round(card.leadTimeDays * unit.perDay * 10) / 10],
      delivered: [card],
    })),
    span: spanOf(report),
    empty: "No card was delivered in these days.",
  };
}

/** The unit for times of which the longest has this many days. */
function unitFor(days: number): { readonly name: string; readonly perDay: number } {
  if (days >= 2) return { name: "days", perDay: 1 };
  return days >= 2 / 24 ? { name: "hours", perDay: 24 } : { name: "minutes", perDay: 1_440 };
}

/** The releases of the report and the open ones, oldest first. A card that has not reached the end of the flow is not delivered. */
export function promises(report: Report, releases: readonly Release[]): ChartData {
  const promisedIn = groupBy(report.promised, ({ releaseId }) => releaseId);
  const completed = new Set(report.releases.map(({ id }) => id));
  const shown = releases.filter(
    ({ id, status, taskCount }) => taskCount > 0 && (status === "open" || completed.has(id)),
  );
  return {
    id: "promises",
    title: "Promised and delivered",
    of: "Release",
    shape: "bars",
    series: [
      { name: "cards delivered", tone: "--success" },
      { name: "cards not delivered", tone: "--warning" },
    ],
    rows: shown.toReversed().map(({ id, name, taskCount }, x) => {
      const promised = promisedIn.get(id) ?? [];
      const values = [Math.max(taskCount - promised.length, 0), promised.length];
      return { label: name, x, values, promised, releaseId: id };
    }),
    span: null,
    empty: "No release of these days has cards.",
  };
}

/** A number of days, in hours or minutes below one day. */
export function durationOf(days: number): string {
  if (days >= 1) return counted(days, "day");
  const minutes = Math.round(days * 1_440);
  if (minutes >= 60) return counted(Math.round(minutes / 60), "hour");
  return minutes === 0 ? "under a minute" : counted(minutes, "minute");
}
