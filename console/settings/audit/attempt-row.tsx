import { useId, useState } from "react";
import { Link } from "wouter";
import { useWorkspace } from "../../api/workspace.tsx";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Ago, exactTime } from "../../text/time.tsx";
import type { Attempt } from "../../api/schema.d.ts";
import { AttemptEvents } from "./attempt-events.tsx";
import type { useFilters } from "./filters.ts";
import { endOf, sentenceOf, type Part } from "./sentences.ts";

interface Props {
  readonly attempt: Attempt;
  readonly onFilter: ReturnType<typeof useFilters>["change"];
}

/** An attempt as a sentence: who did what, when, and how it ended. Its details open below it. */
export function AttemptRow({ attempt, onFilter }: Props) {
  const [isOpen, setIsOpen] = useState(false);
  const id = useId();
  const end = endOf(attempt);
  return (
    <li className="attempt">
      <div className="attempt-line">
        <p className="attempt-sentence" id={`${id}sentence`}>
          <Actor actor={attempt.actor} />{" "}
          {sentenceOf(attempt).map((part, at) => (
            <PartOf key={at} part={part} />
          ))}
        </p>
        {end !== null && <Badge tone={attempt.outcome.problem === null ? "neutral" : "danger"}>{end}</Badge>}
        <span className="attempt-end">
          <Ago at={attempt.at} />
          <Button
            kind="quiet"
            aria-expanded={isOpen}
            aria-controls={`${id}details`}
            aria-describedby={`${id}sentence`}
            onClick={() => setIsOpen(!isOpen)}
          >
            Details
          </Button>
        </span>
      </div>
      <div id={`${id}details`} hidden={!isOpen}>
        {isOpen && <Details attempt={attempt} onFilter={onFilter} />}
      </div>
    </li>
  );
}

/** Actors that are no people, as a reader calls them. */
const KINDS: Readonly<Record<string, string>> = { machine: "API key" };

const Actor = ({ actor }: Pick<Attempt, "actor">) => (
  <>
    <b>
      <bdi>{actor?.name ?? "Somebody"}</bdi>
    </b>
    {actor !== null && actor.kind !== "human" && actor.kind !== actor.name && (
      <>
        {" "}
        <Badge>{KINDS[actor.kind] ?? actor.kind}</Badge>
      </>
    )}
  </>
);

function PartOf({ part }: { readonly part: Part }) {
  const { base } = useWorkspace();
  if (typeof part === "string") return part;
  if ("name" in part)
    return (
      <b>
        <bdi>{part.name}</bdi>
      </b>
    );
  const { number, title, isDeleted } = part.card;
  const words = (
    <>
      card {number} <bdi>{title}</bdi>
    </>
  );
  return isDeleted || title === null ? words : <Link href={`${base}/cards/${number}`}>{words}</Link>;
}

function Details({ attempt, onFilter }: Props) {
  const { actor, credential, action, targets, outcome, address, userAgent, requestId, calls, hash, at } =
    attempt;
  const entries = Object.entries(targets);
  return (
    <div className="attempt-details">
      <dl>
        <Fact name="Action">{action}</Fact>
        <Fact name="Response">
          {[outcome.status, outcome.problem, outcome.replay ? "repeated" : null].filter(Boolean).join(" ") ||
            null}
        </Fact>
        <Fact name="Time">{exactTime(at)}</Fact>
        <Fact name="Key or session">{credential}</Fact>
        <Fact name="Address">{address}</Fact>
        <Fact name="Program">{userAgent}</Fact>
        <Fact name="Request id">{requestId}</Fact>
        <Fact name="About">{entries.map(([name, value]) => `${name}: ${value}`).join(", ") || null}</Fact>
        <Fact name="Calls to GitHub">
          {calls.map(({ method, ref, result }) => `${method} ${ref}: ${result}`).join(", ") || null}
        </Fact>
        <Fact name="Hash">{hash ?? "Not yet in the chain"}</Fact>
      </dl>
      <AttemptEvents attempt={attempt} />
      <p className="attempt-only">
        Show only:
        {actor !== null && actor.id !== null && actor.kind !== "machine" && (
          <Button onClick={() => onFilter({ actor: actor.id ?? "" })}>
            this {actor.kind === "human" ? "person" : actor.kind}
          </Button>
        )}
        {credential !== null && <Button onClick={() => onFilter({ credential })}>this key or session</Button>}
        <Button onClick={() => onFilter({ action })}>this action</Button>
      </p>
    </div>
  );
}

const Fact = ({ name, children }: { readonly name: string; readonly children: string | null }) =>
  children === null ? null : (
    <div>
      <dt>{name}</dt>
      <dd dir="auto">{children}</dd>
    </div>
  );
