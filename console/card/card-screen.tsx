import { useRef, useState } from "react";
import { useLocation } from "wouter";
import { ApiProblem } from "../api/problem.ts";
import { useCard, useFlow, useProjects, useRead } from "../api/reads.ts";
import type { CardSnapshot } from "../api/reads.ts";
import type { TimelineItem } from "../api/schema.d.ts";
import { hasRole, type Role } from "../api/session.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { MergeQuestion } from "../board/merge-question.tsx";
import { ErrorState, Loading } from "../components/states.tsx";
import { useShortcut } from "../keyboard/provider.tsx";
import { NotFound } from "../shell/not-found.tsx";
import { useProjectOfPage } from "../shell/use-project.ts";
import { useTitle } from "../shell/use-title.ts";
import { BlockedPanel } from "./moves/blocked-panel.tsx";
import { CardLine } from "./card-line.tsx";
import { CardText } from "./edit/card-text.tsx";
import { DeleteCard } from "./delete-card.tsx";
import { EndedRefusal, endedRefusal } from "./moves/ended-refusal.tsx";
import { cameFrom } from "./leave-card.ts";
import { NextMove } from "./moves/next-move.tsx";
import { Properties } from "./edit/properties.tsx";
import { Proposals } from "./git/proposals.tsx";
import { Repositories } from "./git/repositories.tsx";
import { Timeline } from "./timeline/timeline.tsx";
import { useCardMove } from "./moves/use-card-move.ts";
import { useCardText } from "./edit/use-card-text.ts";
import "../components/form.css";
import "./card.css";

/** One card: its text, its work on GitHub, its history, and its next move. */
export default function CardScreen({ number }: { readonly number: number }) {
  const { data: card, error, refetch } = useCard(number);
  useTitle(card ? `#${number} ${card.title}` : `#${number}`);
  if (error instanceof ApiProblem && error.status === 404) return <NotFound what="card" />;
  if (card) return <CardPage card={card} />;
  return error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Loading what="the card" />;
}

function CardPage({ card }: { readonly card: CardSnapshot }) {
  const { board, keys, session } = useWorkspace();
  const { number } = card;
  useProjectOfPage(card.projectId);
  const { data: flow } = useFlow(card.projectId);
  const timeline = useRead(
    keys.cardPart(number, "timeline"),
    "GET /v1/cards/{number}/timeline",
    { path: { number }, query: { limit: 200 } },
    { all: true },
  );
  const [isExpanded, setIsExpanded] = useState(false);
  const composer = useRef<HTMLTextAreaElement>(null);
  const pull = useRef<HTMLAnchorElement>(null);
  const edit = useCardText(card);
  const leave = useLeaveCard(card);
  const mayEdit = hasRole(board.role, "member");
  const stages = flow?.stages ?? [];
  const move = useCardMove(card, stages);
  const stageOf = (statusId: string) => stages.find(({ id }) => id === statusId);
  const refused = endedRefusal(card, timeline.data ?? []);
  const refusedStage = refused && stageOf(refused.statusId);
  useShortcut("editCard", () => mayEdit && edit.open());
  useShortcut("commentOnCard", () => composer.current?.focus());
  useShortcut("moveOpenCard", () => setIsExpanded(true));
  useShortcut("openPullRequest", () => pull.current?.click());
  useShortcut("leaveCard", leave);
  return (
    <article className="card-page" aria-label={`Card #${number}`}>
      <div className="card-main">
        <CardLine card={card} stage={stageOf(card.statusId)} onLeave={leave} />
        <CardText card={card} edit={edit} mayEdit={mayEdit}>
          {card.blocked && (
            <BlockedPanel
              blocked={card.blocked}
              stage={stageOf(card.blocked.statusId)}
              isBusy={move.pendingId !== null}
              onRetry={mayEdit ? (stage) => move.ask(stage) : null}
              withdrawable={mayWithdraw(timeline.data ?? [], board.role, session.user.id) ? card : null}
              panelRef={move.refusal}
            />
          )}
          {refused && refusedStage && move.pendingId === null && (
            <EndedRefusal
              refused={refused}
              stage={refusedStage}
              onRetry={mayEdit ? (stage) => move.ask(stage) : null}
            />
          )}
        </CardText>
        <Proposals number={number} mayApprove={mayEdit} />
      </div>
      <aside className="card-side" aria-label="Next move and properties">
        {flow && (
          <NextMove
            card={card}
            stages={stages}
            move={move}
            isExpanded={isExpanded}
            onExpandedChange={setIsExpanded}
          />
        )}
        <Properties card={card} mayEdit={mayEdit} />
        {mayEdit && <DeleteCard card={card} onDeleted={leave} />}
      </aside>
      <div className="card-rest">
        <Repositories card={card} timeline={timeline.data ?? []} pullRef={pull} />
        <Timeline
          number={number}
          items={timeline.data}
          error={timeline.error}
          onRetry={() => void timeline.refetch()}
          stageName={(id) => stageOf(id)?.name ?? "a removed stage"}
          mayComment={mayEdit}
          composerRef={composer}
        />
      </div>
      <MergeQuestion question={move.question} onAnswer={move.confirmMove} />
    </article>
  );
}

/** Whether a user may withdraw the refused move: who made it, or a maintainer. */
function mayWithdraw(timeline: readonly TimelineItem[], role: Role, userId: string): boolean {
  const last = timeline.findLast((item) => item.type === "event" && item.kind === "promotion_refused");
  return hasRole(role, "maintainer") || (last?.type === "event" && last.actor.user.id === userId);
}

/** Back to the board as it was, or to the board of the card's project. */
function useLeaveCard(card: CardSnapshot): () => void {
  const { base } = useWorkspace();
  const { data: projects = [] } = useProjects();
  const [, navigate] = useLocation();
  return () => {
    if (cameFrom(base)) {
      window.history.back();
      return;
    }
    const slug = projects.find(({ id }) => id === card.projectId)?.slug;
    navigate(
      projects.length > 1 && slug !== undefined ? `${base}?project=${encodeURIComponent(slug)}` : base,
    );
  };
}
