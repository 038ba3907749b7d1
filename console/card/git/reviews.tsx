import { messageOf } from "../../api/problem.ts";
import type { ReviewsEntry } from "../../api/schema.d.ts";
import { Badge } from "../../components/badge.tsx";
import { Markdown } from "../../text/markdown.tsx";
import type { LiveRead } from "./live-read.ts";

interface Props {
  readonly read: LiveRead<ReviewsEntry>;
  readonly repository: string;
}

/** The reviews of one repository's pull request, oldest first. */
export function Reviews({ read: { data, error }, repository }: Props) {
  const entry = data?.find((each) => each.repository === repository);
  if (!data && !error)
    return (
      <p className="live-state" role="status">
        Reading reviews from GitHub…
      </p>
    );
  if (!entry) return error ? <p className="live-state live-problem">Reviews: {messageOf(error)}</p> : null;
  if (entry.reviews === null) return <p className="live-state live-problem">Reviews: {entry.error}</p>;
  if (entry.reviews.length === 0) return <p className="live-state">No reviews.</p>;
  return (
    <div className="reviews">
      <h4>Reviews</h4>
      <ul>
        {entry.reviews.map(({ author, state, body }, index) => (
          <li key={index}>
            <p className="review-head">
              <Badge tone={TONES[state]}>{WORDS[state]}</Badge> <bdi>{author}</bdi>
            </p>
            {body !== "" && <Markdown text={body} />}
          </li>
        ))}
      </ul>
    </div>
  );
}

type State = NonNullable<ReviewsEntry["reviews"]>[number]["state"];

const WORDS: Readonly<Record<State, string>> = {
  approved: "approved",
  changes_requested: "changes requested",
  commented: "commented",
  dismissed: "dismissed",
  pending: "pending",
};
const TONES = {
  approved: "success",
  changes_requested: "danger",
  commented: "neutral",
  dismissed: "neutral",
  pending: "warning",
} as const;
