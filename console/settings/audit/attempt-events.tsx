import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { ApiProblem, messageOf } from "../../api/problem.ts";
import type { Attempt } from "../../api/schema.d.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { kindText } from "../webhooks/kinds.ts";
import { changeWords } from "./change-words.ts";

/** Events of one attempt that are shown. */
const SHOWN = 50;

/** The events of the feed that an attempt caused, with their cards. */
export function AttemptEvents({ attempt: { id, events } }: { readonly attempt: Attempt }) {
  const { base, client, keys } = useWorkspace();
  const numbers = events.slice(0, SHOWN);
  const first = numbers[0] ?? 0;
  const count = Math.min(1_000, (numbers.at(-1) ?? 0) - first + 1);
  const { data, error } = useQuery({
    queryKey: keys.eventsOf(id),
    queryFn: async ({ signal }) => {
      const query = { after: String(first - 1), limit: String(count) };
      const { data: page } = await client.read("GET /v1/events", { query }, signal);
      return page.events.filter(({ seq }) => numbers.includes(seq));
    },
    enabled: numbers.length > 0,
  });
  if (numbers.length === 0) return null;
  if (error)
    return (
      <p className="audit-about">
        Events {numbers.join(", ")}.{" "}
        {error instanceof ApiProblem && error.status === 410
          ? "The feed no longer keeps them."
          : messageOf(error)}
      </p>
    );
  return (
    <ul className="attempt-events" aria-label="Events">
      {(data ?? []).map(({ seq, kind, card, data: change }) => (
        <li key={seq}>
          <span className="mono">{seq}</span> {kindText(kind)}
          {card && (
            <>
              :{" "}
              <Link href={`${base}/cards/${card.number}`}>
                <span className="mono">#{card.number}</span> <bdi>{card.title}</bdi>
              </Link>
            </>
          )}
          <Changes texts={changeWords(change)} />
        </li>
      ))}
      {events.length > SHOWN && <li>and {events.length - SHOWN} more</li>}
    </ul>
  );
}

const Changes = ({ texts }: { readonly texts: readonly string[] }) =>
  texts.length === 0 ? null : (
    <ul className="attempt-changes">
      {texts.map((text) => (
        <li key={text} dir="auto">
          {text}
        </li>
      ))}
    </ul>
  );
