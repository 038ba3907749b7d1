import type { ReactNode } from "react";
import type { ReleaseDetails, ReleasePreview } from "../api/schema.d.ts";

type Cards = ReleaseDetails["cards"];

const cardsIn = ({ cards }: ReleaseDetails, numbers: readonly number[] = []): Cards =>
  cards.filter(({ number }) => numbers.includes(number));

/** The cards of a release whose work the release would not contain. */
export const missingIn = (release: ReleaseDetails, preview: ReleasePreview | undefined): Cards =>
  cardsIn(release, preview?.missingCards);

/** Those of which nothing is merged. */
export const unmergedIn = (release: ReleaseDetails, preview: ReleasePreview | undefined): Cards =>
  cardsIn(release, preview?.unmergedCards);

/** The cards that a completed release does not contain. */
export const missingFrom = ({ cards }: ReleaseDetails): Cards => cards.filter(({ isMissing }) => isMissing);

interface Props {
  readonly cards: readonly { readonly number: number; readonly title: string }[];
  /** What the cards have in common. */
  readonly label: string;
  /** Why the cards are listed. */
  readonly children: ReactNode;
}

/** A warning that lists cards; nothing without a card. */
export const CardWarning = ({ cards, label, children }: Props) =>
  cards.length === 0 ? null : (
    <div className="release-warning" role="group" aria-label={label}>
      <p>{children}</p>
      <ul className="release-missing">
        {cards.map(({ number, title }) => (
          <li key={number} dir="auto">
            <span className="mono">#{number}</span> {title}
          </li>
        ))}
      </ul>
    </div>
  );
