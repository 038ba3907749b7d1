import { Link } from "wouter";
import type { PageSummary } from "../api/schema.d.ts";
import { usePageAddress } from "./page-address.ts";

interface Props {
  readonly pages: readonly PageSummary[];
  readonly current: string | null;
}

/** The pages of the board, each with the pages below it. */
export const PageTree = ({ pages, current }: Props) => (
  <nav className="page-tree" aria-label="Pages">
    <Level pages={pages} parentId={null} current={current} />
  </nav>
);

function Level({ pages, parentId, current }: Props & { readonly parentId: string | null }) {
  const addressOf = usePageAddress();
  const shown = pages.filter((page) => page.parentId === parentId);
  if (shown.length === 0) return null;
  return (
    <ul>
      {shown.map(({ id, title, slug }) => (
        <li key={id}>
          <Link
            href={addressOf(slug)}
            className="page-tree-link"
            dir="auto"
            aria-current={id === current ? "page" : undefined}
          >
            {title}
          </Link>
          <Level pages={pages} parentId={id} current={current} />
        </li>
      ))}
    </ul>
  );
}
