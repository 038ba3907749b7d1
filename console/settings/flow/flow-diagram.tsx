import { useBoard, useBacklog } from "../../api/reads.ts";
import { SECOND_PERSON } from "../../board/gates.ts";
import { Icon } from "../../components/icon.tsx";
import { cardsOf } from "../../text/counted.ts";
import { ruleWords } from "../../text/rule.ts";
import type { DraftStage } from "./draft.ts";

interface Props {
  readonly projectId: string;
  readonly stages: readonly DraftStage[];
}

/** The stages as a line from the backlog to the last one. */
export function FlowDiagram({ projectId, stages }: Props) {
  const { data: board } = useBoard(projectId);
  const { data: drafts } = useBacklog(projectId);
  const count = (key: string, at: number): number | undefined =>
    at === 0 ? drafts?.length : board?.columns.find(({ statusId }) => statusId === key)?.tasks.length;
  return (
    <ol className="flow-diagram" aria-label="Stages">
      {stages.map((stage, at) => (
        <Station key={stage.key} stage={stage} count={count(stage.key, at)} />
      ))}
    </ol>
  );
}

function Station({ stage, count }: { readonly stage: DraftStage; readonly count: number | undefined }) {
  const { name, rule } = stage;
  return (
    <li className="flow-station" data-rule={rule.type}>
      <div className="flow-station-head">
        <h2>
          <bdi>{name}</bdi>
        </h2>
        {count !== undefined && <span className="flow-station-count">{cardsOf(count)}</span>}
      </div>
      <p className="flow-station-rule">
        <Icon name={rule.type === "merge" ? "merge" : rule.type === "none" ? "board" : "branch"} />
        {ruleWords(rule)}
      </p>
      <Gates stage={stage} />
    </li>
  );
}

function Gates({ stage: { minRole, gates } }: { readonly stage: DraftStage }) {
  const { wipLimit, humanOnly, secondPerson } = gates;
  const shown = [
    minRole === "maintainer" && "maintainers only",
    wipLimit !== null && `at most ${cardsOf(wipLimit)}`,
    humanOnly && "people only",
    secondPerson && SECOND_PERSON,
  ].filter((text) => text !== false);
  if (shown.length === 0) return null;
  return (
    <ul className="flow-gates" aria-label="Conditions">
      {shown.map((text) => (
        <li key={text} className="badge badge-neutral">
          {text}
        </li>
      ))}
    </ul>
  );
}
