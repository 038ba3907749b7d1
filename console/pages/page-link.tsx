import { useCallback } from "react";
import { Link } from "wouter";
import { messageOf } from "../api/problem.ts";
import { hasRole } from "../api/session.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { useToast } from "../components/toast.tsx";
import type { RenderPageLink } from "../text/markdown-elements.tsx";
import { usePageAddress } from "./page-address.ts";
import { useCreatePage } from "./use-create-page.ts";
import type { ShownPage } from "./use-pages.ts";

/** Links of a page's text. One without a page is marked, and a click creates the page. */
export function usePageLinks(page: ShownPage): RenderPageLink {
  const { links, dangling, parentId } = page;
  const addressOf = usePageAddress();
  return useCallback(
    (target, text) => {
      if (target.startsWith("#")) return text;
      const slug = links.find((each) => each.target === target)?.slug ?? target;
      if (dangling.includes(slug))
        return <Dangling title={target.replace(/#\S.*$/, "")} text={text} parentId={parentId} />;
      return <Link href={addressOf(slug)}>{text}</Link>;
    },
    // The address depends on the board only, which stays while the page is open.
    [links, dangling, parentId],
  );
}

/** Links of other texts: previews and cards. The address is the title, from which the service makes the slug. */
export function useTitleLinks(): RenderPageLink {
  const { base } = useWorkspace();
  const addressOf = usePageAddress();
  return useCallback(
    (target, text) => (target.startsWith("#") ? text : <Link href={addressOf(target)}>{text}</Link>),
    [base],
  );
}

interface DanglingProps {
  readonly title: string;
  readonly text: string;
  /** The new page becomes a sibling of the page with the link. */
  readonly parentId: string | null;
}

function Dangling({ title, text, parentId }: DanglingProps) {
  const { board } = useWorkspace();
  const toast = useToast();
  const { create, isBusy } = useCreatePage();
  if (!hasRole(board.role, "member"))
    return (
      <span className="page-dangling" title="There is no such page">
        {text}
        <span className="visually-hidden"> (no such page)</span>
      </span>
    );
  const run = (): void =>
    void create({ title, parentId }).catch((error: unknown) =>
      toast({ kind: "failed", title: "The page was not created", description: messageOf(error) }),
    );
  return (
    <button
      type="button"
      className="page-dangling"
      title="There is no such page. Create it"
      aria-disabled={isBusy || undefined}
      onClick={isBusy ? undefined : run}
    >
      {text}
      <span className="visually-hidden"> (no such page: create it)</span>
    </button>
  );
}
