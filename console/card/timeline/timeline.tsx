import { useState, type Ref } from "react";
import type { TimelineEvent, TimelineItem } from "../../api/schema.d.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { Avatar } from "../../components/avatar.tsx";
import { Button } from "../../components/button.tsx";
import { Icon, type IconName } from "../../components/icon.tsx";
import { ErrorState, Loading } from "../../components/states.tsx";
import { Ago } from "../../text/time.tsx";
import { ActorName, nameOf } from "./actor.tsx";
import { Comment } from "./comment.tsx";
import { Composer } from "./composer.tsx";
import { EventWords, type Names } from "./event-words.tsx";
import { createdIn, groupTimeline, type EventGroup } from "./group-timeline.ts";
import "./timeline.css";

interface Props {
  readonly number: number;
  readonly items: readonly TimelineItem[] | undefined;
  readonly error: Error | null;
  readonly onRetry: () => void;
  readonly stageName: (statusId: string) => string;
  readonly mayComment: boolean;
  readonly composerRef: Ref<HTMLTextAreaElement>;
}

/** So many of the newest entries are shown at first. */
const SHOWN = 60;

/** What happened to the card, oldest first, with its comments. */
export function Timeline({ number, items, error, onRetry, stageName, mayComment, composerRef }: Props) {
  const { session } = useWorkspace();
  const [showsAll, setShowsAll] = useState(false);
  const names: Names = { stage: stageName, forgeUrl: session.forgeUrl };
  const hidden = showsAll ? 0 : Math.max(0, (items?.length ?? 0) - SHOWN);
  return (
    <section className="timeline" aria-labelledby="timeline">
      <h2 id="timeline">Timeline</h2>
      {!items && (error ? <ErrorState error={error} onRetry={onRetry} /> : <Loading what="the timeline" />)}
      {hidden > 0 && (
        <Button className="timeline-more" onClick={() => setShowsAll(true)}>
          Show {hidden === 1 ? "1 earlier entry" : `${hidden} earlier entries`}
        </Button>
      )}
      {items && (
        <ol className="timeline-entries">
          {groupTimeline(items.slice(hidden)).map((entry) =>
            entry.type === "comment" ? (
              <li key={entry.id} className="timeline-entry timeline-comment">
                <Comment number={number} comment={entry} />
              </li>
            ) : (
              <Group key={entry.events[0]?.id} group={entry} names={names} />
            ),
          )}
        </ol>
      )}
      {mayComment && <Composer number={number} areaRef={composerRef} />}
    </section>
  );
}

function Group({ group: { actor, events }, names }: { group: EventGroup; names: Names }) {
  const firstStage = createdIn(events);
  // The creation names the stage, so the move is left out.
  const shown = firstStage === null ? events : events.toSpliced(1, 1);
  return (
    <li className="timeline-entry">
      <Avatar name={nameOf(actor)} kind={actor.user.kind} isDecorative />
      <div className="timeline-group">
        <ActorName actor={actor} />
        <ul>
          {shown.map((event) => (
            <li key={event.id} className="timeline-event" data-kind={event.kind}>
              <Icon name={iconOf(event)} />
              <div>
                <EventWords event={event} names={names} />
                {event.kind === "created" && firstStage !== null && (
                  <>
                    {" "}
                    in <b>{names.stage(firstStage)}</b>
                  </>
                )}
                <span className="timeline-place">
                  {event.repositoryFullName !== null && (
                    <span className="mono">{event.repositoryFullName}</span>
                  )}
                  <Ago at={event.at} />
                </span>
              </div>
            </li>
          ))}
        </ul>
      </div>
    </li>
  );
}

const ICONS: readonly (readonly [RegExp, IconName])[] = [
  [/merged|backmerge|accepted|picked/, "merge"],
  [/pull_request|proposal/, "pull"],
  [/branch/, "branch"],
  [/pushed/, "commit"],
  [/status_changed/, "move"],
  [/refused|gave_up/, "alert"],
  [/checks/, "check"],
  [/review/, "eye"],
  [/claim|armed/, "clock"],
  [/release/, "tag"],
  [/created/, "plus"],
];

const iconOf = ({ kind }: TimelineEvent): IconName =>
  ICONS.find(([pattern]) => pattern.test(kind))?.[1] ?? "edit";
