import { useId, useState } from "react";
import type { Flow, ReleaseDetails } from "../api/schema.d.ts";
import { hasRole, type Role } from "../api/session.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { Button } from "../components/button.tsx";
import { Icon } from "../components/icon.tsx";
import { useShortcut } from "../keyboard/provider.tsx";
import { missingIn } from "./card-warning.tsx";
import { CompleteDialog } from "./complete-dialog.tsx";
import { DeleteDialog, FreezeDialog, UnfreezeDialog } from "./freeze-dialogs.tsx";
import { PromoteDialog } from "./promotion/promote-dialog.tsx";
import { whyNotPromoted } from "./promotion/stages.ts";
import { useReleasePreview } from "./reads.ts";
import { stateOf } from "./state-badge.tsx";

interface Props {
  readonly release: ReleaseDetails;
  readonly flow: Flow;
  /** While another action runs. */
  readonly isBusy: boolean;
  readonly onPromote: (statusId: string, numbers: readonly number[]) => void;
}

type Question = "promote" | "freeze" | "unfreeze" | "complete" | "delete";

/** What the user may do with the whole release, in the order of its life, and why not. */
export function ReleaseActions({ release, flow, isBusy, onPromote }: Props) {
  const { board } = useWorkspace();
  const [asked, setAsked] = useState<Question | null>(null);
  const state = stateOf(release);
  const { data: preview } = useReleasePreview(release.id, state === "frozen");
  const reasonId = useId();
  const whyNot = { promote: whyNotPromoted(release, flow), unfreeze: preview?.unfreezeRefusal ?? null };
  const actions = state === "completed" ? [] : actionsOf(release, board.role, whyNot);
  const ask = (wanted: Question): void => {
    const isOffered = actions.some(({ question, whyOff = null }) => question === wanted && whyOff === null);
    if (isOffered && !isBusy) setAsked(wanted);
  };
  useShortcut("promoteRelease", () => ask("promote"));
  useShortcut("freezeRelease", () => ask(state === "frozen" ? "unfreeze" : "freeze"));
  useShortcut("completeRelease", () => ask("complete"));
  if (state === "completed") return null;
  const next = nextStep(release, flow, missingIn(release, preview).length > 0);
  const dialog = { release, onClose: () => setAsked(null) };
  return (
    <div className="release-actions">
      {actions.map(({ question, name, icon, whyOff = null }) => (
        <Button
          key={question}
          kind={question === "delete" ? "danger" : question === next ? "primary" : "secondary"}
          isBusy={isBusy}
          disabled={whyOff !== null}
          aria-describedby={whyOff === null ? undefined : `${reasonId}-${question}`}
          onClick={() => ask(question)}
        >
          {icon && <Icon name={icon} />}
          {name}
        </Button>
      ))}
      {actions.map(
        ({ question, whyOff = null }) =>
          whyOff !== null && (
            <p key={question} id={`${reasonId}-${question}`} className="release-hint">
              {whyOff}
            </p>
          ),
      )}
      {board.role !== "maintainer" && <p className="release-hint">{WHO_MAY[board.role]}</p>}
      <PromoteDialog {...dialog} flow={flow} open={asked === "promote"} onPromote={onPromote} />
      <FreezeDialog {...dialog} open={asked === "freeze"} />
      <UnfreezeDialog {...dialog} open={asked === "unfreeze"} />
      <CompleteDialog {...dialog} flow={flow} open={asked === "complete"} />
      <DeleteDialog {...dialog} open={asked === "delete"} />
    </div>
  );
}

interface Action {
  readonly question: Question;
  readonly name: string;
  readonly icon?: "branch" | "move" | "tag";
  /** Why it is shown and cannot be used now; null if it can. */
  readonly whyOff?: string | null;
}

/** The actions of a release that is not completed. */
function actionsOf(
  release: ReleaseDetails,
  role: Role,
  whyNot: Readonly<Record<"promote" | "unfreeze", string | null>>,
): readonly Action[] {
  const isOpen = stateOf(release) === "open";
  const freeze = isOpen ? "Freeze" : "Create the missing branches";
  const promote: Action = {
    question: "promote",
    name: "Promote cards",
    icon: "move",
    whyOff: whyNot.promote,
  };
  if (!hasRole(role, "maintainer")) return hasRole(role, "member") ? [promote] : [];
  return [
    ...(isOpen || lacksBranch(release)
      ? [{ question: "freeze", name: freeze, icon: "branch" } as const]
      : []),
    promote,
    { question: "complete", name: "Complete", icon: "tag" },
    ...(isOpen ? [] : [{ question: "unfreeze", name: "Unfreeze", whyOff: whyNot.unfreeze } as const]),
    // Unfreezing would remove the branches as well.
    ...(isOpen || whyNot.unfreeze !== null ? [{ question: "delete", name: "Delete" } as const] : []),
  ];
}

/** Whether a repository was added to the project after the freeze. */
const lacksBranch = (release: ReleaseDetails): boolean =>
  stateOf(release) === "frozen" && release.repositories.some(({ branchName }) => branchName === null);

/**
 * What usually comes next in the life of a release; null while it is empty. `lacksWork`: a promotion
 * merges cards, but not onto the release branch, so neither it nor the completion is the next step.
 */
function nextStep(release: ReleaseDetails, flow: Flow, lacksWork: boolean): Question | null {
  const { cards } = release;
  if (cards.length === 0) return null;
  if (stateOf(release) === "open" || lacksBranch(release)) return "freeze";
  if (lacksWork) return null;
  const done = flow.stages.find(({ kind }) => kind === "done")?.id;
  return cards.every(({ statusId }) => statusId === null || statusId === done) ? "complete" : "promote";
}

const WHO_MAY = {
  viewer:
    "You are a viewer of this board. Members choose and promote cards; maintainers freeze and complete.",
  member: "Maintainers freeze, complete and delete releases.",
} as const;
