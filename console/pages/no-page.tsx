import { Link } from "wouter";
import { hasRole } from "../api/session.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { buttonClass } from "../components/button.tsx";
import { EmptyState } from "../components/states.tsx";
import { useNewPageAddress } from "./page-address.ts";

/** Where a link to a page that does not exist leads. */
export function NoPage({ slug }: { readonly slug: string }) {
  const { board } = useWorkspace();
  const newPageAt = useNewPageAddress();
  const words = slug.replaceAll("-", " ");
  return (
    <EmptyState title="There is no such page">
      <p>
        Nobody has written <bdi>{words}</bdi> yet, or it was deleted.
      </p>
      {hasRole(board.role, "member") && (
        <p className="page-create">
          <Link href={newPageAt({ title: words })} className={buttonClass("primary")}>
            Create this page
          </Link>
        </p>
      )}
    </EmptyState>
  );
}
