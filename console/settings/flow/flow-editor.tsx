import { useEffect, useRef } from "react";
import type { Project } from "../../api/schema.d.ts";
import { EditorForm, useEndOfEdit } from "../../card/edit/editor-form.tsx";
import { useAnnounce } from "../../components/announcer.tsx";
import { Button } from "../../components/button.tsx";
import { Icon } from "../../components/icon.tsx";
import { describeChanges, NOBODY } from "./describe-changes.ts";
import {
  isSame,
  withNewStage,
  withoutStage,
  withStage,
  withStageAt,
  withStageOf,
  type FlowDraft,
} from "./draft.ts";
import { Effects } from "./effects.tsx";
import { SettingsFields } from "./settings-list.tsx";
import { StageFields } from "./stage-fields.tsx";
import type { FlowEdit } from "./use-flow-edit.ts";
import { useStageDrop } from "./use-stage-drag.ts";
import { useStageCounts } from "./use-stage-counts.ts";
import "../../components/form.css";

interface Props {
  readonly project: Project;
  readonly flow: FlowEdit;
}

/** The form of a flow, with what saving it would do. */
export function FlowEditor({ project, flow }: Props) {
  const { edit, theirs, isSaving, problem, save, discard } = flow;
  const isDirty = edit !== null && !isSame(edit.mine, edit.base);
  const end = useEndOfEdit(
    { isDirty, save, discard },
    {
      saved: "Flow saved",
      conflict: "Not saved: somebody changed the flow meanwhile. Your edits are kept.",
    },
  );
  if (!edit) return null;
  return (
    <EditorForm
      className="flow-editor"
      label="Edit the flow"
      action="Save the flow"
      isSaving={isSaving}
      problem={problem && `Not saved. ${problem.message} Your changes are kept here.`}
      onSave={end.save}
      onCancel={end.cancel}
    >
      <Stages draft={edit.mine} faults={problem?.stages ?? new Map()} onChange={flow.change} />
      <SettingsFields
        settings={edit.mine.settings}
        onChange={(settings) => flow.change({ ...edit.mine, settings })}
      />
      <Preview project={project} base={edit.base} mine={edit.mine} onChange={flow.change} />
      {theirs && (
        <OtherChange base={edit.base} theirs={theirs} onCombine={flow.combine} onDiscard={end.cancel} />
      )}
    </EditorForm>
  );
}

interface StagesProps {
  readonly draft: FlowDraft;
  readonly faults: ReadonlyMap<number, readonly string[]>;
  readonly onChange: (draft: FlowDraft) => void;
}

function Stages({ draft, faults, onChange }: StagesProps) {
  const announce = useAnnounce();
  const list = useRef<HTMLOListElement>(null);
  /** What gets the focus when the list has changed. */
  const next = useRef<string | null>(null);
  useEffect(() => {
    if (next.current !== null) list.current?.querySelector<HTMLElement>(next.current)?.focus();
    next.current = null;
  });
  const { stages } = draft;
  const move = (key: string, to: number, button?: "up" | "down"): void => {
    const moved = withStageAt(draft, key, to);
    const at = moved.stages.findIndex((stage) => stage.key === key);
    if (button) next.current = `[data-stage="${CSS.escape(key)}"] [data-move="${button}"]`;
    if (moved === draft) return;
    onChange(moved);
    announce(`${moved.stages[at]?.name ?? ""} is stage ${at + 1} of ${stages.length}.`);
  };
  useStageDrop(move);
  const add = (): void => {
    const key = `new-${crypto.randomUUID()}`;
    next.current = `[data-stage="${key}"] input`;
    onChange(withNewStage(draft, key));
  };
  const remove = (key: string, at: number): void => {
    next.current = `[data-stage="${CSS.escape(stages[at - 1]?.key ?? "")}"] input`;
    onChange(withoutStage(draft, key));
    announce(`${stages[at]?.name || "The stage"} is removed when you save.`);
  };
  return (
    <>
      <ol className="flow-stages" ref={list} aria-label="Stages">
        {stages.map((stage, at) => (
          <StageFields
            key={stage.key}
            stage={stage}
            at={at}
            count={stages.length}
            faults={faults.get(at) ?? []}
            onChange={(changes) => onChange(withStage(draft, stage.key, changes))}
            onMove={(to) => move(stage.key, to, to < at ? "up" : "down")}
            onRemove={() => remove(stage.key, at)}
          />
        ))}
      </ol>
      <Button className="flow-add" onClick={add}>
        <Icon name="plus" />
        Add a stage
      </Button>
    </>
  );
}

interface PreviewProps extends Pick<StagesProps, "onChange"> {
  readonly project: Project;
  readonly base: FlowDraft;
  readonly mine: FlowDraft;
}

/** What saving does, before it is saved. */
function Preview({ project, base, mine, onChange }: PreviewProps) {
  const standing = useStageCounts(project.id);
  const effects = describeChanges(base, mine, standing ?? NOBODY);
  return (
    <section className="flow-preview" aria-labelledby="flow-preview">
      <h2 id="flow-preview">What saving changes</h2>
      {effects.length === 0 && <p>Nothing yet.</p>}
      {effects.length > 0 && !standing && <p role="status">Reading where the cards stand…</p>}
      {standing && <Effects effects={effects} onKeep={(key) => onChange(withStageOf(mine, base, key))} />}
    </section>
  );
}

interface OtherProps {
  readonly base: FlowDraft;
  readonly theirs: FlowDraft;
  readonly onCombine: () => void;
  readonly onDiscard: () => void;
}

/** What somebody else changed meanwhile, next to the button that saves. */
const OtherChange = ({ base, theirs, onCombine, onDiscard }: OtherProps) => (
  <div className="conflict" role="alert">
    <p className="conflict-head">
      <Icon name="alert" />
      Somebody changed the flow while you were editing:
    </p>
    <Effects effects={describeChanges(base, theirs, NOBODY)} />
    <p>
      Your edits are kept. Combine them with the new flow before you save; where both changed the same, yours
      stay.
    </p>
    <div className="form-actions">
      <Button onClick={onCombine}>Combine with my edits</Button>
      <Button kind="quiet" onClick={onDiscard}>
        Discard my edits
      </Button>
    </div>
  </div>
);
