import { useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { ApiProblem, messageOf } from "../../api/problem.ts";
import type { Flow, Project } from "../../api/schema.d.ts";
import { useDraft } from "../../api/use-draft.ts";
import { useWrite } from "../../api/use-write.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { faultsOf } from "./check-draft.ts";
import { bodyOf, draftOf, isSame, type FlowDraft } from "./draft.ts";
import { mergeDrafts } from "./merge-drafts.ts";

/** What a user edits, and the flow when they began. */
interface Edit {
  readonly mine: FlowDraft;
  readonly base: FlowDraft;
}

/** Why the flow is not saved. `stages` has the sentences of the service by the index of the stage. */
export interface FlowProblem {
  readonly message: string;
  readonly stages: ReadonlyMap<number, readonly string[]>;
}

export interface FlowEdit {
  /** Null while nobody edits. */
  readonly edit: Edit | null;
  /** The flow as it is now, if somebody else changed it meanwhile. */
  readonly theirs: FlowDraft | null;
  readonly isSaving: boolean;
  readonly problem: FlowProblem | null;
  readonly open: () => void;
  readonly change: (next: FlowDraft) => void;
  /** Continues with the flow of now, and the user's edits in it. */
  readonly combine: () => void;
  readonly save: () => Promise<"saved" | "unchanged" | "conflict" | "failed">;
  /** Ends the edit. The function returned brings it back. */
  readonly discard: () => () => void;
}

/**
 * Edits a flow. What is typed survives a reload, a failed save and a sign-in. A flow that somebody else changes meanwhile
 * is not overwritten: a notice asks the user to combine both.
 */
export function useFlowEdit({ id: projectId }: Project, flow: Flow): FlowEdit {
  const { client, keys } = useWorkspace();
  const queries = useQueryClient();
  const stored = useDraft(`flow:${client.workspaceId}:${projectId}`);
  const write = useWrite("PUT /v1/projects/{projectId}/flow");
  const [problem, setProblem] = useState<FlowProblem | null>(null);
  const [isSaving, setIsSaving] = useState(false);
  const edit = useMemo(() => parse(stored.text), [stored.text]);
  const current = useMemo(() => draftOf(flow), [flow]);
  const keep = (next: Edit): void => stored.setText(JSON.stringify(next));
  const path = { projectId };

  const readNow = async () => {
    const received = await client.read("GET /v1/projects/{projectId}/flow", { path });
    queries.setQueryData(keys.flow(projectId), received.data);
    return received;
  };
  const trySave = async ({ mine, base }: Edit): Promise<"saved" | "conflict"> => {
    const { data: latest, etag } = await readNow();
    if (!isSame(draftOf(latest), base)) return "conflict";
    try {
      const { data: saved } = await write.mutateAsync({ path, body: bodyOf(mine), ifMatch: etag });
      queries.setQueryData(keys.flow(projectId), saved);
    } catch (error) {
      if (!isStale(error)) throw error;
      await readNow();
      return "conflict";
    }
    stored.clear();
    return "saved";
  };

  return {
    edit,
    theirs: edit && !isSame(current, edit.base) ? current : null,
    isSaving,
    problem,
    open: () => {
      setProblem(null);
      if (!edit) keep({ mine: current, base: current });
    },
    change: (mine) => {
      setProblem(null);
      if (edit) keep({ mine, base: edit.base });
    },
    combine: () => {
      setProblem(null);
      if (edit) keep({ mine: mergeDrafts(edit.base, edit.mine, current), base: current });
    },
    save: async () => {
      if (isSaving || !edit) return "unchanged";
      if (isSame(edit.mine, edit.base)) {
        stored.clear();
        return "unchanged";
      }
      const faults = faultsOf(edit.mine.stages);
      if (faults.length > 0) {
        setProblem({ message: faults.join(" "), stages: new Map() });
        return "failed";
      }
      setIsSaving(true);
      setProblem(null);
      try {
        return await trySave(edit);
      } catch (error) {
        setProblem(problemOf(error));
        return "failed";
      } finally {
        setIsSaving(false);
      }
    },
    discard: () => {
      const { text } = stored;
      stored.clear();
      setProblem(null);
      return () => stored.setText(text);
    },
  };
}

/** Whether somebody saved between the read and the write. */
const isStale = (error: unknown): boolean => error instanceof ApiProblem && error.status === 412;

function parse(text: string): Edit | null {
  if (text === "") return null;
  try {
    return JSON.parse(text) as Edit;
  } catch {
    return null;
  }
}

/** The service names the stages that it refuses as `body.stages.2.rule`. */
function problemOf(error: unknown): FlowProblem {
  const stages = new Map<number, string[]>();
  for (const { path, message } of error instanceof ApiProblem ? (error.body.issues ?? []) : []) {
    const [, at] = /^body\.stages\.(\d+)\b/.exec(path) ?? [];
    if (at !== undefined) stages.set(Number(at), [...(stages.get(Number(at)) ?? []), message]);
  }
  return { message: messageOf(error), stages };
}
