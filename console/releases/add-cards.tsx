import { useRef, useState } from "react";
import { Link } from "wouter";
import { useRead } from "../api/reads.ts";
import type { Flow, ListedCard, ReleaseDetails } from "../api/schema.d.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { Button } from "../components/button.tsx";
import { Field } from "../components/field.tsx";
import { ErrorState, Loading } from "../components/states.tsx";
import { useShortcut } from "../keyboard/provider.tsx";
import { useAddress } from "../shell/use-project.ts";
import { Problem } from "./problem.tsx";
import { useOtherReleases } from "./reads.ts";
import { toggled } from "./toggled.ts";
import { PickRefusalNote } from "./scope-list.tsx";
import type { PickProblem } from "./picks/use-picks.ts";
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
  const [text, setText] = useState("");
  const [stage, setStage] = useState("");
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const search = useRef<HTMLInputElement>(null);
  useShortcut("addToRelease", () => search.current?.focus());
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
          card or in none. Commits that the branches contain already are not picked again: the card is only
          added to the release.
        </p>
      )}
      <div className="release-search">
        <Field
          type="search"
          label={`Search cards to ${isFrozen ? "pick" : "add"}`}
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
        onToggle={(number) => setChosen((before) => toggled(before, number))}
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

/** The cards outside the release that match the search. */
function Candidates({ release, flow, text, stage, chosen, onToggle, problems }: CandidatesProps) {
  const { keys } = useWorkspace();
  const addressOf = useAddress();
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
  const others = useOtherReleases(release.projectId, release.id);
  if (!data)
    return error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Loading what="cards" />;
  const inside = new Set(release.cards.map(({ number }) => number));
  const found = data
    .filter(({ number }) => !inside.has(number))
    .map((card) => ({
      card,
      reason: whyNot(card, release, others.open),
      shippedIn: others.completed.get(card.number),
    }))
    .toSorted((one, other) => rankOf(one) - rankOf(other));
  const stageName = (id: string) => flow.stages.find((each) => each.id === id)?.name ?? "";
  if (data.length === 0 && q === "" && stage === "")
    return (
      <p className="release-hint">
        The project has no cards yet. <Link href={addressOf("")}>Create one on the board</Link>
      </p>
    );
  if (found.length === 0) {
    const isAll = q === "" && stage === "" && data.length > 0 && data.length < MAX_SHOWN;
    return (
      <p className="release-hint">{isAll ? "All cards are in the release." : "No other card matches."}</p>
    );
  }
  return (
    <>
      <ul className="release-candidates">
        {found.map(({ card, reason, shippedIn }) => {
          const problem = problems.get(card.number);
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
                <span className="release-hint">
                  {reason ?? (shippedIn === undefined ? stageName(card.statusId) : `shipped in ${shippedIn}`)}
                </span>
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

/** Cards that have shipped come after the others, and last those that cannot join. */
const rankOf = (found: { readonly reason: string | null; readonly shippedIn: string | undefined }): number =>
  found.reason !== null ? 2 : found.shippedIn !== undefined ? 1 : 0;

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
