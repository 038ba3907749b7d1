import type { ReactNode } from "react";
import type { ReleaseDetails, ReleasePreview } from "../api/schema.d.ts";

/** The cards of a release whose work the release would not contain. */
export function missingIn(
  release: ReleaseDetails,
  preview: ReleasePreview | undefined,
): ReleaseDetails["cards"] {
  if (!preview) return [];
  const missing = new Set(preview.missingCards);
  return release.cards.filter(({ number }) => missing.has(number));
}

/** The cards that a completed release does not contain. */
export const missingFrom = ({ cards }: ReleaseDetails): ReleaseDetails["cards"] =>
  cards.filter(({ isMissing }) => isMissing);

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
