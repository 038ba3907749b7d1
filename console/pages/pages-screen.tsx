import { Link, useLocation, useSearchParams } from "wouter";
import { ApiProblem } from "../api/problem.ts";
import { hasRole } from "../api/session.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { buttonClass } from "../components/button.tsx";
import { Icon } from "../components/icon.tsx";
import { ErrorState, Loading } from "../components/states.tsx";
import { useShortcut } from "../keyboard/provider.tsx";
import { useTitle } from "../shell/use-title.ts";
import { NewPage } from "./new-page.tsx";
import { useNewPageAddress } from "./page-address.ts";
import { NoPage } from "./no-page.tsx";
import { PagePanel } from "./page-panel.tsx";
import { PageTree } from "./page-tree.tsx";
import { usePage, usePages } from "./use-pages.ts";
import "./pages.css";

/** The pages of the board: their tree, and the page of the address. */
export default function PagesScreen({ slug }: { readonly slug: string | null }) {
  const { board } = useWorkspace();
  const [, navigate] = useLocation();
  const { data: pages, error, refetch } = usePages();
  const { data: shown } = usePage(slug ?? "");
  const [search] = useSearchParams();
  const newPageAt = useNewPageAddress();
  const mayEdit = hasRole(board.role, "member");
  const isNew = slug === null && search.has("new") && mayEdit;
  useTitle(slug === null ? "Pages" : (shown?.title ?? "Page"), board.name);
  useShortcut("newPage", () => mayEdit && navigate(newPageAt({})));
  if (!pages)
    return error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Loading what="the pages" />;
  return (
    <div className="pages">
      <div className="pages-side">
        {mayEdit && (
          <Link href={newPageAt({})} className={buttonClass()} aria-keyshortcuts="c">
            <Icon name="plus" />
            New page
          </Link>
        )}
        <PageTree pages={pages} current={slug === null ? null : (shown?.id ?? null)} />
      </div>
      <div className="pages-main">
        {slug !== null ? (
          <PageAt slug={slug} />
        ) : isNew ? (
          <NewPage pages={pages} parentId={search.get("parent")} title={search.get("title") ?? ""} />
        ) : (
          <Overview hasPages={pages.length > 0} mayEdit={mayEdit} />
        )}
      </div>
    </div>
  );
}

function PageAt({ slug }: { readonly slug: string }) {
  const { data: page, error, refetch } = usePage(slug);
  const isGone = error instanceof ApiProblem && error.status === 404;
  if (page) return <PagePanel key={page.id} page={page} slug={slug} isGone={isGone} />;
  if (isGone) return <NoPage slug={slug} />;
  return error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Loading what="the page" />;
}

const Overview = ({ hasPages, mayEdit }: { readonly hasPages: boolean; readonly mayEdit: boolean }) => (
  <>
    <h1>Pages</h1>
    <p className="pages-about">
      {hasPages
        ? "Choose a page. Pages and cards link to each other with [[the title of a page]]."
        : mayEdit
          ? "The board has no pages yet. Write down what the team should know, for example how it ships."
          : "The board has no pages yet. Members of the board can write them."}
    </p>
  </>
);
