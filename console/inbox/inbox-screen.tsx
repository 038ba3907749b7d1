import { Link, useSearchParams } from "wouter";
import { useInbox, useProjects } from "../api/reads.ts";
import type { InboxItem } from "../api/schema.d.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { ExternalLink, gitHubPages, shortSha } from "../card/git/external-link.tsx";
import { EmptyState, ErrorState, Loading } from "../components/states.tsx";
import { useTitle } from "../shell/use-title.ts";
import { Ago } from "../text/time.tsx";
import { adviceFor, TITLES } from "./advice.ts";
import { Decision } from "./decision.tsx";
import "./inbox.css";
import { useItemFocus } from "./use-item-focus.ts";

/** How often the open inbox is read without an event, in milliseconds. */
const OPEN_MS = 10_000;

/** What needs a decision by a person. */
export default function InboxScreen() {
  const { board } = useWorkspace();
  const { data: items, error, refetch } = useInbox(OPEN_MS);
  const { data: projects = [] } = useProjects();
  const [search] = useSearchParams();
  const wanted = items?.find(({ card }) => String(card?.number) === search.get("card"));
  const list = useItemFocus(items, wanted?.id ?? null);
  useTitle("Inbox", board.name);
  if (!items)
    return error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Loading what="the inbox" />;
  return (
    <div className="inbox" ref={list}>
      <h1 tabIndex={-1}>Inbox</h1>
      {projects.length > 1 && <p className="inbox-scope">All projects of the board</p>}
      {items.length === 0 ? (
        <EmptyState title="Nothing needs a decision">
          Refused moves, pull requests that changed outside of Trunkline, proposals of agents and broken
          connections appear here.
        </EmptyState>
      ) : (
        <ul className="inbox-items">
          {items.map((item) => (
            <Item key={keyOf(item)} item={item} />
          ))}
        </ul>
      )}
    </div>
  );
}

/** Each refused attempt is another item. The card's refusal stays in its place, with what its decision says. */
const keyOf = ({ id, kind, card }: InboxItem): string =>
  kind === "promotion_blocked" && card ? `${kind} ${card.number}` : id;

function Item({ item }: { readonly item: InboxItem }) {
  const { base } = useWorkspace();
  const { data: projects = [] } = useProjects();
  const { id, kind, card, repository, detail, at } = item;
  return (
    <li className="inbox-item" data-item={id} data-kind={kind} tabIndex={-1} aria-labelledby={`item-${id}`}>
      <h2 id={`item-${id}`}>{TITLES[kind]}</h2>
      <p className="inbox-place">
        {card && (
          <Link href={`${base}/cards/${card.number}`}>
            <span className="mono">#{card.number}</span> <bdi>{card.title}</bdi>
          </Link>
        )}
        {repository !== null && <span className="mono">{repository}</span>}
        {projects.length > 1 && <bdi>{projects.find((each) => each.id === item.projectId)?.name}</bdi>}
        <Ago at={at} />
      </p>
      <p className="inbox-detail" dir="auto">
        {detail}
      </p>
      <p className="inbox-advice">
        {adviceFor(item)} <Source item={item} />
      </p>
      <Decision item={item} />
    </li>
  );
}

/** Where the item comes from: on GitHub, or at the monitor. */
function Source({ item }: { readonly item: InboxItem }) {
  const { forgeUrl } = useWorkspace().session;
  if (item.kind === "error_reported") {
    const { url, monitorName } = item.data;
    return url === null ? null : <ExternalLink href={url}>Open it in {monitorName}</ExternalLink>;
  }
  if (item.repository === null) return null;
  const pages = gitHubPages(forgeUrl, item.repository);
  if ("prNumber" in item.data && item.data.prNumber !== null) {
    const { prNumber } = item.data;
    return <ExternalLink href={pages.pull(prNumber)}>Open #{prNumber} on GitHub</ExternalLink>;
  }
  if (item.kind === "branch_suggestion") {
    const { branchName } = item.data;
    return <ExternalLink href={pages.branch(branchName)}>Open {branchName} on GitHub</ExternalLink>;
  }
  if (item.kind === "backmerge_open") {
    const { sha } = item.data;
    return <ExternalLink href={pages.commit(sha)}>Open {shortSha(sha)} on GitHub</ExternalLink>;
  }
  return null;
}
