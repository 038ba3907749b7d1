import { useRef, useState, type FormEvent } from "react";
import { useLocation } from "wouter";
import { messageOf } from "../api/problem.ts";
import type { Release } from "../api/schema.d.ts";
import { hasRole } from "../api/session.ts";
import { useDraft } from "../api/use-draft.ts";
import { useWrite } from "../api/use-write.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { Button } from "../components/button.tsx";
import { Field } from "../components/field.tsx";
import { useToast } from "../components/toast.tsx";
import { useShortcut } from "../keyboard/provider.tsx";

interface Props {
  readonly projectId: string;
  /** The releases of the project. The service would accept the name of one of them. */
  readonly releases: readonly Release[];
}

/** The form for a new release. It opens the release that it creates. */
export function NewRelease({ projectId, releases }: Props) {
  const { base, board } = useWorkspace();
  const [, navigate] = useLocation();
  const toast = useToast();
  const create = useWrite("POST /v1/releases");
  const { text, setText, clear } = useDraft(`new-release:${board.workspaceId}:${projectId}`);
  const [refused, setRefused] = useState<string>();
  const field = useRef<HTMLInputElement>(null);
  useShortcut("newRelease", () => field.current?.focus());
  if (!hasRole(board.role, "member"))
    return <p className="release-note">You are a viewer of this board. Members create releases.</p>;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const name = text.trim();
    const refusal =
      name === ""
        ? "A release needs a name."
        : releases.some((each) => each.name === name)
          ? `The project has a release ${name} already.`
          : undefined;
    setRefused(refusal);
    if (refusal !== undefined) return field.current?.focus();
    if (create.isPending) return;
    create.mutate(
      { query: { projectId }, body: { name } },
      {
        onSuccess: ({ data: { id } }) => {
          clear();
          toast({ title: `The release ${name} was created` });
          navigate(`${base}/releases/${id}${window.location.search}`);
        },
      },
    );
  };
  const problem = refused ?? (create.error ? messageOf(create.error) : undefined);
  return (
    <form className="release-new" onSubmit={submit}>
      <Field
        label="Name of the new release"
        placeholder="For example 1.4"
        maxLength={80}
        ref={field}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setRefused(undefined);
        }}
        error={problem}
      />
      <Button type="submit" kind="primary" isBusy={create.isPending}>
        Create
      </Button>
    </form>
  );
}
