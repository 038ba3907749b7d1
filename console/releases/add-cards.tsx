import { useRef, useState } from "react";
import { useRead } from "../api/reads.ts";
import type { Flow, ListedCard, ReleaseDetails } from "../api/schema.d.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { Button } from "../components/button.tsx";
import { Field } from "../components/field.tsx";
import { ErrorState, Loading } from "../components/states.tsx";
import { useShortcut } from "../keyboard/provider.tsx";
import { Problem } from "./problem.tsx";
import { useTakenCards } from "./reads.ts";
import { PickRefusalNote } from "./scope-list.tsx";
import type { PickProblem } from "./use-picks.ts";
import { cardsOf } from "../text/counted.ts";

/** How many cards a search shows. */
const MAX_SHOWN = 50;

interface Props {
  readonly release: ReleaseDetails;
  readonly flow: Flow;
  /** While another change runs. */
  readonly isBusy: boolean;
  readonly isAdding: boolean;
  /** Adds or picks the chosen cards. Returns those that are in the release now. */
  readonly onAdd: (numbers: readonly number[]) => Promise<readonly number[]>;
  readonly error: Error | null;
  readonly problems: ReadonlyMap<number, PickProblem>;
}

/** Searches cards and adds them to the release; picks them if it is frozen. */
export function AddCards({ release, flow, isBusy, isAdding, onAdd, error, problems }: Props) {
  const isFrozen = release.frozenAt !== null;
  const done = flow.stages.find(({ kind }) => kind === "done")?.id ?? "";
  const [text, setText] = useState("");
  const [stage, setStage] = useState(isFrozen ? done : "");
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const search = useRef<HTMLInputElement>(null);
  useShortcut("addToRelease", () => search.current?.focus());
  const toggle = (number: number): void =>
    setChosen((before) =>
      before.has(number)
        ? new Set([...before].filter((each) => each !== number))
        : new Set([...before, number]),
    );
  const add = async (): Promise<void> => {
    const added = await onAdd([...chosen]);
    setChosen((before) => new Set([...before].filter((number) => !added.includes(number))));
  };
  const verb = isFrozen ? "Pick" : "Add";
  return (
    <section className="release-panel" aria-labelledby="add-cards">
      <h2 id="add-cards">{isFrozen ? "Pick cards" : "Add cards"}</h2>
      {isFrozen && (
        <p className="release-hint">
          The merged commits of a card are cherry-picked onto the release branches, in all repositories of the
          card or in none.
        </p>
      )}
      <div className="release-search">
        <Field
          type="search"
          label="Search cards to add"
          isLabelHidden
          placeholder="Number or words  ( / )"
          ref={search}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <label className="release-select">
          <span className="visually-hidden">Stage</span>
          <select className="field-control" value={stage} onChange={(event) => setStage(event.target.value)}>
            <option value="">All stages</option>
            {flow.stages.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Problem error={error} />
      <Candidates
        release={release}
        flow={flow}
        text={text}
        stage={stage}
        chosen={chosen}
        onToggle={toggle}
        problems={problems}
      />
      <Button kind="primary" isBusy={isBusy || chosen.size === 0} onClick={() => void add()}>
        {isAdding ? `${verb}ing…` : chosen.size === 0 ? `${verb} cards` : `${verb} ${cardsOf(chosen.size)}`}
      </Button>
    </section>
  );
}

interface CandidatesProps extends Pick<Props, "release" | "flow" | "problems"> {
  readonly text: string;
  readonly stage: string;
  readonly chosen: ReadonlySet<number>;
  readonly onToggle: (number: number) => void;
}

function Candidates({ release, flow, text, stage, chosen, onToggle, problems }: CandidatesProps) {
  const { keys } = useWorkspace();
  const q = text.trim();
  const query = {
    projectId: release.projectId,
    sort: "-updated",
    limit: MAX_SHOWN,
    ...(q !== "" && { q }),
    ...(stage !== "" && { statusId: stage }),
  } as const;
  const { data, error, refetch } = useRead(
    [...keys.listed, release.projectId, "candidates", q, stage],
    "GET /v1/cards",
    { query },
  );
  const taken = useTakenCards(release.projectId, release.id);
  if (!data)
    return error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Loading what="cards" />;
  const inside = new Set(release.cards.map(({ number }) => number));
  const found = data.filter(({ number }) => !inside.has(number));
  const stageName = (id: string) => flow.stages.find((each) => each.id === id)?.name ?? "";
  if (found.length === 0) return <p className="release-hint">No other card matches.</p>;
  return (
    <>
      <ul className="release-candidates">
        {found.map((card) => {
          const problem = problems.get(card.number);
          const reason = whyNot(card, release, taken);
          return (
            <li key={card.number} data-candidate={card.number}>
              <label className="release-candidate" data-disabled={reason !== null || undefined}>
                <input
                  type="checkbox"
                  disabled={reason !== null}
                  checked={chosen.has(card.number)}
                  onChange={() => onToggle(card.number)}
                />
                <span className="release-candidate-text" dir="auto">
                  <span className="release-card-number mono">#{card.number}</span> {card.title}
                </span>
                <span className="release-hint">{reason ?? stageName(card.statusId)}</span>
              </label>
              {problem && <PickRefusalNote problem={problem} />}
            </li>
          );
        })}
      </ul>
      {data.length === MAX_SHOWN && (
        <p className="release-hint">Only the {MAX_SHOWN} newest changes are shown. Search for others.</p>
      )}
    </>
  );
}

/** Why a card cannot join the release; null if it can. */
function whyNot(
  { number, repositories }: ListedCard,
  { frozenAt }: ReleaseDetails,
  taken: ReadonlyMap<number, string>,
): string | null {
  const other = taken.get(number);
  if (other !== undefined) return `in the release ${other}`;
  if (frozenAt === null || repositories.length === 0) return null;
  const states = repositories.map(({ prState }) => prState);
  const isMerged = states.includes("merged") && !states.includes("open") && !states.includes("draft");
  return isMerged ? null : "not merged yet";
}
