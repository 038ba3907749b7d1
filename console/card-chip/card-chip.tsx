import type { AnchorHTMLAttributes, ReactNode, Ref } from "react";
import { Link } from "wouter";
import type { Blocked, BoardTask, Claim } from "../api/schema.d.ts";
import { Avatar } from "../components/avatar.tsx";
import { LabelBadge } from "../components/badge.tsx";
import { exactTime } from "../text/time.tsx";
import type { CardFact } from "./card-facts.ts";
import { FactLine } from "./fact-line.tsx";
import { Priority } from "./priority.tsx";
import { Refusal } from "./refusal.tsx";
import "./card-chip.css";

interface Props {
  readonly task: Pick<BoardTask, "number" | "title" | "priority" | "assignee" | "labels" | "claim">;
  readonly href: string;
  /** Why the last move was refused. */
  readonly blocked?: Blocked | null | undefined;
  /** The name of the stage that it could not enter. */
  readonly refusedBy?: string | undefined;
  /** What it shows at a glance. */
  readonly facts?: readonly CardFact[];
  /** Below everything else, for example how its last move ended. */
  readonly notice?: ReactNode;
  readonly link?: Pick<AnchorHTMLAttributes<HTMLAnchorElement>, "tabIndex" | "draggable" | "onFocus"> & {
    readonly ref?: Ref<HTMLAnchorElement>;
  };
}

/** Who works on the card, and until when. */
const ClaimNote = ({ claim: { holder, expiresAt } }: { readonly claim: Claim }) => (
  <span className="card-chip-claim">
    claimed by <bdi>{holder.name}</bdi> until{" "}
    <time dateTime={expiresAt} title={exactTime(expiresAt)}>
      {new Intl.DateTimeFormat("en", { timeStyle: "short" }).format(new Date(expiresAt))}
    </time>
  </span>
);

/** A card in a column or list. */
export function CardChip({ task, href, blocked, refusedBy, facts = [], notice, link }: Props) {
  const { number, title, priority, assignee, labels, claim } = task;
  const hasFoot = labels.length > 0 || claim !== undefined;
  return (
    <article className="card-chip" data-blocked={blocked ? true : undefined}>
      <div className="card-chip-main">
        <Link href={href} className="card-chip-link" {...link}>
          <span className="card-chip-number mono">#{number}</span>{" "}
          <span className="card-chip-title" dir="auto">
            {title}
          </span>
        </Link>
        <span className="card-chip-marks">
          <Priority priority={priority} />
          {assignee && <Avatar {...assignee} />}
        </span>
      </div>
      {hasFoot && (
        <div className="card-chip-foot">
          {labels.map((label) => (
            <LabelBadge key={label.id} label={label} />
          ))}
          {claim && <ClaimNote claim={claim} />}
        </div>
      )}
      <FactLine facts={facts} />
      {blocked && <Refusal blocked={blocked} stage={refusedBy} isShort />}
      {notice}
    </article>
  );
}
