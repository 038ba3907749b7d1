import { Button } from "../components/button.tsx";
import { durationOf, isOutside, type Report } from "./series.ts";
import type { Opened } from "./use-open.ts";

interface Props {
  readonly report: Report;
  /** The repository that the report is limited to. */
  readonly repository: string | null;
  readonly onOpen: (opened: Opened) => void;
}

interface Tile {
  readonly name: string;
  readonly value: string;
  /** What the number counts. */
  readonly about: string;
  /** The chart or list with the cards and commits behind the number. */
  readonly opens: string;
  /** The report has it for all repositories together only. */
  readonly isOfAll?: boolean;
}

/** The numbers of the report. Each opens what it counts. */
export function Numbers({ report, repository, onOpen }: Props) {
  return (
    <ul className="trunk-numbers" aria-label="Numbers">
      {tilesOf(report).map(({ name, value, about, opens, isOfAll }) => (
        <li key={name}>
          <Button className="trunk-tile" data-number={name} onClick={() => onOpen({ id: opens, row: null })}>
            <strong className="trunk-tile-value">{value}</strong>
            <span className="trunk-tile-name">
              {name}
              {isOfAll && repository !== null && " (all repositories)"}
            </span>
            <span className="trunk-tile-about">{about}</span>
          </Button>
        </li>
      ))}
    </ul>
  );
}

/** Whether work may have landed on two branches of a repository. */
function hasSeveralBranches(landings: Report["landings"]): boolean {
  const branches = new Set(landings.map(({ fullName, branchName }) => `${fullName} ${branchName}`));
  return branches.size > new Set(landings.map(({ fullName }) => fullName)).size;
}

function tilesOf({ landings, delivered, numbers }: Report): readonly Tile[] {
  const days = numbers.leadTimeDays;
  const reverts = landings.filter((landing) => landing.reverts !== null).length;
  const earlier = landings.filter(({ via }) => via === "earlier").length;
  return [
    {
      name: "landed",
      value: String(landings.length - earlier),
      about: [
        "Pull requests, and commits pushed without one, on the branches that the flow merges into.",
        ...(hasSeveralBranches(landings) ? ["Work that reached several of these counts once on each."] : []),
        ...(earlier > 0 ? [`+${earlier} before this project.`] : []),
      ].join(" "),
      opens: "landings",
    },
    {
      name: "outside",
      value: String(landings.filter(isOutside).length),
      about: "Of these, merged or pushed on GitHub and not by a move.",
      opens: "outside",
    },
    {
      name: "delivered",
      value: String(delivered.length),
      about: "Cards that entered the last stage in these days and did not leave it.",
      opens: "lead-time",
    },
    {
      name: "median lead time",
      value: days === null ? "–" : durationOf(days),
      about: "From the backlog to the last stage. Half of the delivered cards took longer.",
      opens: "lead-time",
      isOfAll: true,
    },
    {
      name: "not delivered",
      value: String(numbers.owed),
      about: "Cards of open or completed releases that are not in the last stage.",
      opens: "promises",
      isOfAll: true,
    },
    {
      name: "refused moves",
      value: String(numbers.refusals),
      about: "Moves that GitHub or a rule of the flow refused.",
      opens: "refusals",
      isOfAll: true,
    },
    {
      name: "reverts",
      value: String(reverts),
      about: "Landings that undo an earlier one.",
      opens: "reverts",
    },
  ];
}
