import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { messageOf } from "../api/problem.ts";
import { useWrite } from "../api/use-write.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { useToast } from "../components/toast.tsx";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog/dialog.tsx";
import { Select } from "../components/select.tsx";
import { ParentChoice } from "./parent-choice.tsx";
import { outsideOf, usePages, type ShownPage } from "./use-pages.ts";
import "../components/form.css";

/** Moves a page, with the pages below it, to another place of the tree. */
export function MovePage({ page }: { readonly page: ShownPage }) {
  const { keys } = useWorkspace();
  const queries = useQueryClient();
  const toast = useToast();
  const { data: pages = [] } = usePages();
  const [isOpen, setIsOpen] = useState(false);
  const [parentId, setParentId] = useState(page.parentId);
  const [before, setBefore] = useState("");
  const { mutate, isPending, error, reset } = useWrite("PATCH /v1/docs/{docId}");
  const siblings = pages.filter((each) => each.parentId === parentId && each.id !== page.id);
  const open = (): void => {
    const next = pages.find((each) => each.parentId === page.parentId && each.position === page.position + 1);
    setParentId(page.parentId);
    setBefore(next?.id ?? "");
    reset();
    setIsOpen(true);
  };
  const move = (): void => {
    const at = siblings.findIndex(({ id }) => id === before);
    const position = at < 0 ? siblings.length : at;
    mutate(
      { path: { docId: page.id }, body: { parentId, position } },
      {
        onSuccess: () => {
          toast({ title: "Page moved" });
          setIsOpen(false);
          void queries.invalidateQueries({ queryKey: keys.list("docs") });
        },
      },
    );
  };
  return (
    <>
      <Button kind="quiet" onClick={open}>
        Move
      </Button>
      <Dialog
        open={isOpen}
        onOpenChange={setIsOpen}
        title={`Move ${page.title}`}
        description="The pages below it move with it."
        actions={
          <>
            <Button onClick={() => setIsOpen(false)}>Cancel</Button>
            <Button kind="primary" isBusy={isPending} onClick={move}>
              Move the page
            </Button>
          </>
        }
      >
        <div className="page-place">
          <ParentChoice
            pages={outsideOf(pages, page.id)}
            value={parentId}
            onChoose={(id) => {
              setParentId(id);
              setBefore("");
            }}
          />
          <Select
            label="Place"
            value={before}
            choices={[
              ...siblings.map(({ id, title }) => [id, `Before ${title}`] as const),
              ["", "At the end"] as const,
            ]}
            onChoose={setBefore}
          />
          {error && (
            <p className="form-problem" role="alert">
              Not moved. {messageOf(error)}
            </p>
          )}
        </div>
      </Dialog>
    </>
  );
}
