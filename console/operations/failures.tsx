import { useRef, type ReactNode, type RefObject } from "react";
import { Badge } from "../components/badge.tsx";
import { RetryButton } from "./retry-button.tsx";

interface Props<Item> {
  readonly id: string;
  readonly title: string;
  /** How something gets here. */
  readonly empty: string;
  readonly items: readonly Item[];
  /** Of all, also of those that the list leaves out. */
  readonly count: number;
  /** As in `useRetry`, for all of them. */
  readonly what: string;
  /** A list item. `heading` gets the focus when the item is gone. */
  readonly show: (item: Item, heading: RefObject<HTMLElement | null>) => ReactNode;
}

/** What failed too often and waits for a retry, of one or of all. */
export function Failures<Item>({ id, title, empty, items, count, what, show }: Props<Item>) {
  const heading = useRef<HTMLHeadingElement>(null);
  return (
    <section className="operations-part" aria-labelledby={id}>
      <div className="operations-head">
        <h2 id={id} tabIndex={-1} ref={heading}>
          {title} {count > 0 && <Badge tone="danger">{count}</Badge>}
        </h2>
        {count > 0 && (
          <RetryButton
            what={what}
            label="Retry all"
            name={`Retry all ${title.toLowerCase()}`}
            heading={heading}
          />
        )}
      </div>
      {items.length === 0 ? (
        <p className="operations-about">None. {empty}</p>
      ) : (
        <ul className="operations-list" aria-label={title}>
          {items.map((item) => show(item, heading))}
          {count > items.length && <li>and {count - items.length} more</li>}
        </ul>
      )}
    </section>
  );
}
