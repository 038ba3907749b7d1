import type { Flow, Rule } from "../api/schema.d.ts";
import { Button } from "../components/button.tsx";
import { Icon } from "../components/icon.tsx";
import { nounFor } from "../text/counted.ts";
import { RULE_WORDS } from "../text/rule.ts";
import { SECOND_PERSON } from "./gates.ts";

interface Props {
  readonly stage: Pick<Flow["stages"][number], "id" | "name" | "rule" | "gates" | "minRole">;
  readonly shown: number;
  readonly total: number;
  readonly isCollapsed: boolean;
  readonly onToggle: () => void;
}

/** A stage's name, how many cards it has, and what entering it does and requires. */
export function ColumnHead({ stage, shown, total, isCollapsed, onToggle }: Props) {
  const { id, name, rule, gates, minRole } = stage;
  const limit = gates?.wipLimit ?? null;
  const isFull = limit !== null && total >= limit;
  return (
    <header className="column-head">
      <div className="column-title">
        <h2 id={`stage-${id}`} tabIndex={-1}>
          <bdi>{name}</bdi>{" "}
          <span className="column-count" data-full={isFull || undefined}>
            {shown === total ? total : `${shown} of ${total}`}
            {limit !== null && <span className="column-limit"> / {limit}</span>}
            <span className="visually-hidden">
              {" "}
              {nounFor(limit ?? total, "card")}
              {limit !== null && ", the limit is last"}
              {isFull && ", full"}
            </span>
          </span>
        </h2>
        <Button
          kind="quiet"
          className="column-toggle"
          aria-expanded={!isCollapsed}
          aria-label={`${isCollapsed ? "Show" : "Collapse"} ${name}`}
          title={isCollapsed ? "Show the cards" : "Collapse the column"}
          onClick={onToggle}
        >
          <Icon name={isCollapsed ? "expand" : "collapse"} />
        </Button>
      </div>
      {!isCollapsed && (
        <p className="column-notes">
          <RuleNote rule={rule} />
          {minRole === "maintainer" && <span>maintainers only</span>}
          {gates?.humanOnly && <span>people only</span>}
          {gates?.secondPerson && <span>{SECOND_PERSON}</span>}
        </p>
      )}
    </header>
  );
}

/** What happens in Git when a card enters the stage. */
const RuleNote = ({ rule }: { readonly rule: Rule }) =>
  rule.type === "merge" ? (
    <span className="column-rule-merge">
      <Icon name="merge" />
      merges into {rule.into === null ? "the default branch" : <span className="mono">{rule.into}</span>}
    </span>
  ) : (
    <span>{RULE_WORDS[rule.type]}</span>
  );
