import { useEffect, useRef } from "react";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useLocation } from "wouter";
import { hasRole } from "../api/session.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { Button, buttonClass } from "../components/button.tsx";
import { Icon } from "../components/icon.tsx";
import { useShortcut } from "../keyboard/provider.tsx";
import { Markdown } from "../text/markdown.tsx";
import { DeletePage } from "./delete-page.tsx";
import { MovePage } from "./move-page.tsx";
import { useNewPageAddress, usePageAddress } from "./page-address.ts";
import { PageForm } from "./page-form.tsx";
import { usePageLinks } from "./page-link.tsx";
import { NoPage } from "./no-page.tsx";
import { usePageEdit } from "./use-page-edit.ts";
import { usePageKey, type ShownPage } from "./use-pages.ts";

interface Props {
  readonly page: ShownPage;
  /** As in the address. */
  readonly slug: string;
  /** Whether somebody has deleted it meanwhile. */
  readonly isGone: boolean;
}

/** A page: its text, or the form that edits it, and what links to it. */
export function PagePanel({ page, slug, isGone }: Props) {
  const { board } = useWorkspace();
  const edit = usePageEdit(page, slug);
  const mayEdit = hasRole(board.role, "member");
  const isEditing = edit.texts !== null && mayEdit;
  const editButton = useRef<HTMLButtonElement>(null);
  const wasEditing = useRef(isEditing);
  useAddressOf(page, slug);
  useShortcut("editPage", () => mayEdit && edit.open());
  useEffect(() => {
    if (wasEditing.current && !isEditing) editButton.current?.focus();
    wasEditing.current = isEditing;
  }, [isEditing]);
  if (isEditing) return <PageForm page={page} edit={edit} isGone={isGone} />;
  if (isGone) return <NoPage slug={slug} />;
  return (
    <article className="page" aria-labelledby="page-title">
      <header className="page-head">
        <h1 id="page-title" dir="auto">
          {page.title}
        </h1>
        {mayEdit && (
          <div className="page-actions">
            <Button ref={editButton} onClick={() => edit.open()} aria-keyshortcuts="e">
              <Icon name="edit" />
              Edit
            </Button>
            <AddBelow page={page} />
            <MovePage page={page} />
            <DeletePage page={page} />
          </div>
        )}
      </header>
      <p className="page-by">
        Last changed by <bdi>{page.updatedBy}</bdi>
      </p>
      <Text page={page} />
      <Mentions page={page} />
    </article>
  );
}

/** An earlier slug in the address becomes the one of now. */
function useAddressOf(page: ShownPage, slug: string): void {
  const queries = useQueryClient();
  const keyOf = usePageKey();
  const addressOf = usePageAddress();
  const [, navigate] = useLocation();
  useEffect(() => {
    if (page.slug === slug) return;
    queries.setQueryData(keyOf(page.slug), page);
    navigate(addressOf(page.slug), { replace: true });
  }, [page, slug]);
}

function AddBelow({ page }: Pick<Props, "page">) {
  const newPageAt = useNewPageAddress();
  return (
    <Link href={newPageAt({ parentId: page.id })} className={buttonClass("quiet")}>
      <Icon name="plus" />
      Page below
    </Link>
  );
}

function Text({ page }: Pick<Props, "page">) {
  const pageLink = usePageLinks(page);
  return page.body.trim() === "" ? (
    <p className="page-empty">This page has no text yet.</p>
  ) : (
    <Markdown text={page.body} pageLink={pageLink} />
  );
}

/** The pages and cards that link to this one. */
function Mentions({ page: { backlinks, tasks } }: Pick<Props, "page">) {
  const { base } = useWorkspace();
  const addressOf = usePageAddress();
  return (
    <footer className="page-mentions">
      <section aria-labelledby="backlinks">
        <h2 id="backlinks">Pages that link here</h2>
        {backlinks.length === 0 ? (
          <p className="page-empty">None</p>
        ) : (
          <ul>
            {backlinks.map(({ id, title, slug }) => (
              <li key={id}>
                <Link href={addressOf(slug)} dir="auto">
                  {title}
                </Link>
              </li>
            ))}
          </ul>
        )}
      </section>
      {tasks.length > 0 && (
        <section aria-labelledby="page-cards">
          <h2 id="page-cards">Cards</h2>
          <ul>
            {tasks.map(({ id, number, title }) => (
              <li key={id}>
                <Link href={`${base}/cards/${number}`}>
                  <span className="mono">#{number}</span> <bdi>{title}</bdi>
                </Link>
              </li>
            ))}
          </ul>
        </section>
      )}
    </footer>
  );
}
