import { useState } from "react";
import { ApiProblem } from "../api/problem.ts";
import { useFlow } from "../api/reads.ts";
import type { Flow, ReleaseDetails } from "../api/schema.d.ts";
import { ErrorState, Loading } from "../components/states.tsx";
import { NotFound } from "../shell/not-found.tsx";
import { useBoardTitle, useProjectOfPage } from "../shell/use-project.ts";
import { PromotionPanel } from "./promotion/promotion-panel.tsx";
import { useRelease } from "./reads.ts";
import { ReleaseActions } from "./release-actions.tsx";
import { ReleaseHead } from "./release-head.tsx";
import { ReleaseRepositories } from "./release-repositories.tsx";
import { ReleaseScope } from "./release-scope.tsx";
import { TurnedOff } from "./turned-off.tsx";
import { usePromotion } from "./promotion/use-promotion.ts";
import "./releases.css";
import "./release.css";

/** One release: its cards, its branches, and what can be done with it. */
export default function ReleaseScreen({ id }: { readonly id: string }) {
  const { data: release, error, refetch } = useRelease(id);
  useBoardTitle(release?.name ?? "Release", true);
  if (error instanceof ApiProblem && [400, 404].includes(error.status)) return <NotFound what="release" />;
  if (release) return <WithFlow release={release} />;
  return error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Loading what="the release" />;
}

function WithFlow({ release }: { readonly release: ReleaseDetails }) {
  useProjectOfPage(release.projectId);
  const { data: flow, error, refetch } = useFlow(release.projectId);
  if (flow) return <ReleasePage release={release} flow={flow} />;
  return error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Loading what="the release" />;
}

const RUNNING: Readonly<Record<string, string>> = {
  freeze: "The release is being frozen.",
  unfreeze: "The release is being unfrozen.",
  pick: "A card is being picked.",
  complete: "The release is being completed.",
};

function ReleasePage({ release, flow }: { readonly release: ReleaseDetails; readonly flow: Flow }) {
  const promotion = usePromotion(release.id);
  const [isPicking, setIsPicking] = useState(false);
  const isBusy = promotion.isRunning || promotion.other !== null;
  const isCompleted = release.status === "completed";
  return (
    <article className="release" aria-label={`Release ${release.name}`}>
      <ReleaseHead release={release} flow={flow} />
      {flow.releases ? (
        <ReleaseActions
          release={release}
          flow={flow}
          isBusy={isBusy || isPicking}
          onPromote={promotion.start}
        />
      ) : (
        <TurnedOff />
      )}
      {promotion.other !== null && !isPicking && (
        <p className="release-note" role="status">
          {RUNNING[promotion.other]} Other changes wait until it has ended.
        </p>
      )}
      {!isCompleted && <PromotionPanel promotion={promotion} release={release} flow={flow} />}
      {isCompleted && <ReleaseRepositories release={release} />}
      <ReleaseScope release={release} flow={flow} isBusy={isBusy} onPicking={setIsPicking} />
      {!isCompleted && <ReleaseRepositories release={release} />}
    </article>
  );
}
