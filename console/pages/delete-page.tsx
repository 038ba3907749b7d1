import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { useWrite } from "../api/use-write.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { useToast } from "../components/toast.tsx";
import { Button } from "../components/button.tsx";
import { Confirm } from "../components/dialog/confirm.tsx";
import { usePages, type ShownPage } from "./use-pages.ts";
import { useAddress } from "../shell/use-project.ts";

/** Deletes a page, after it has said what happens to the pages below it and to links. */
export function DeletePage({ page: { id, title, backlinks } }: { readonly page: ShownPage }) {
  const { keys } = useWorkspace();
  const addressOf = useAddress();
  const queries = useQueryClient();
  const toast = useToast();
  const [, navigate] = useLocation();
  const { data: pages = [] } = usePages();
  const [isAsking, setIsAsking] = useState(false);
  const { mutate, isPending, error, reset } = useWrite("DELETE /v1/docs/{docId}");
  const below = pages.filter(({ parentId }) => parentId === id).length;
  const close = (): void => {
    reset();
    setIsAsking(false);
  };
  const remove = (): void =>
    mutate(
      { path: { docId: id } },
      {
        onSuccess: () => {
          toast({ title: `Page ${title} deleted` });
          navigate(addressOf("/pages"));
          void queries.invalidateQueries({ queryKey: keys.list("docs") });
        },
      },
    );
  return (
    <>
      <Button kind="quiet" onClick={() => setIsAsking(true)}>
        Delete
      </Button>
      <Confirm
        open={isAsking}
        title={`Delete ${title}?`}
        action="Delete the page"
        isBusy={isPending}
        error={error}
        onCancel={close}
        onConfirm={remove}
      >
        <p>
          Its text is lost.
          {below > 0 &&
            ` The ${below === 1 ? "page below it moves" : `${below} pages below it move`} up to its place.`}
          {backlinks.length > 0 &&
            ` ${backlinks.length === 1 ? "1 page links" : `${backlinks.length} pages link`} to it; the links stay, but lead nowhere.`}
        </p>
      </Confirm>
    </>
  );
}
