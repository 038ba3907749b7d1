import { useEffect, useRef } from "react";
import type { Project } from "../../api/schema.d.ts";
import { EditorForm, useEndOfEdit } from "../../card/edit/editor-form.tsx";
import { useAnnounce } from "../../components/announcer.tsx";
import { Button } from "../../components/button.tsx";
import { Icon } from "../../components/icon.tsx";
import { useMissingBranches } from "../repositories/use-missing-branches.ts";
import { faultsAt } from "./check-draft.ts";
import {
  describeChanges,
  describeMissing,
  NOBODY,
  type Effect,
  type StageCounts,
} from "./describe-changes.ts";
import {
  isSame,
  targetsOf,
  withNewStage,
  withoutStage,
  withStage,
  withStageAt,
  withStageOf,
  type FlowDraft,
} from "./draft.ts";
import { Effects } from "./effects.tsx";
import { laterNames, skipsAt, type Skip } from "./skips.ts";
import { SettingsFields } from "./settings-list.tsx";
import { StageFields } from "./stage-fields.tsx";
import type { FlowEdit } from "./use-flow-edit.ts";
import { useStageDrop } from "./use-stage-drag.ts";
import { useStageCounts } from "./use-stage-counts.ts";
import { useTyped } from "./use-typed.ts";
import "../../components/form.css";

interface Props {
  readonly project: Project;
  readonly flow: FlowEdit;
}

/** The form of a flow, with what saving it would do. */
export function FlowEditor({ project, flow }: Props) {
  const { edit, theirs, isSaving, problem, save, discard } = flow;
  const isDirty = edit !== null && !isSame(edit.mine, edit.base);
  const standing = useStageCounts(project.id);
  const end = useEndOfEdit(
    { isDirty, save, discard },
    {
      saved: "Flow saved",
      conflict: "Not saved: somebody changed the flow meanwhile. Your edits are kept.",
    },
  );
  if (!edit) return null;
  const effects = describeChanges(edit.base, edit.mine, standing ?? NOBODY);
  const keep = (key: string): void => flow.change(withStageOf(edit.mine, edit.base, key));
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
      <Stages
        draft={edit.mine}
        base={edit.base}
        refusals={problem?.stages ?? new Map()}
        standing={standing ?? NOBODY}
        effects={effects}
        onChange={flow.change}
        onKeep={keep}
      />
      <SettingsFields
        settings={edit.mine.settings}
        onChange={(settings) => flow.change({ ...edit.mine, settings })}
      />
      <Preview project={project} mine={edit.mine} effects={effects} isReading={!standing} onKeep={keep} />
      {theirs && (
        <OtherChange base={edit.base} theirs={theirs} onCombine={flow.combine} onDiscard={end.cancel} />
      )}
    </EditorForm>
  );
}

interface StagesProps {
  readonly draft: FlowDraft;
  readonly base: FlowDraft;
  readonly refusals: ReadonlyMap<number, readonly string[]>;
  readonly standing: StageCounts;
  readonly effects: readonly Effect[];
  readonly onChange: (draft: FlowDraft) => void;
  /** Takes the removal of a stage back. */
  readonly onKeep: (key: string) => void;
}

function Stages({ draft, base, refusals, standing, effects, onChange, onKeep }: StagesProps) {
  const announce = useAnnounce();
  const list = useRef<HTMLOListElement>(null);
  /** What gets the focus when the list has changed. */
  const next = useRef<string | null>(null);
  useEffect(() => {
    if (next.current !== null) list.current?.querySelector<HTMLElement>(next.current)?.focus();
    next.current = null;
  });
  const { stages } = draft;
  const last = stages.at(-1);
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
    if (standing.cardsIn(key).count === 0)
      announce(`${stages[at]?.name || "The stage"} is removed when you save.`);
  };
  const close = (skip: Skip): void => {
    next.current = `[data-stage="${CSS.escape(skip.stage.key)}"] .flow-gate input`;
    onChange(skip.close(draft));
    announce(`Also required for ${laterNames(skip)}.`);
  };
  const keep = (key: string): void => {
    next.current = `[data-stage="${CSS.escape(key)}"] input`;
    onKeep(key);
  };
  const blocked = effects.filter(({ kind, removes }) => kind === "blocks" && removes !== undefined);
  const shown = blocked.reduce((all, { removes = "" }) => withStageOf(all, base, removes), draft).stages;
  return (
    <>
      <ol className="flow-stages" ref={list} aria-label="Stages">
        {shown.map((stage) => {
          const at = stages.indexOf(stage);
          if (at === -1) {
            const removal = blocked.filter(({ removes }) => removes === stage.key);
            return <StillOccupied key={stage.key} removal={removal} onKeep={keep} />;
          }
          return (
            <StageFields
              key={stage.key}
              stage={stage}
              at={at}
              count={stages.length}
              faults={faultsAt(stages, at)}
              refusals={refusals.get(at) ?? []}
              skips={skipsAt(stages, at)}
              onChange={(changes) => onChange(withStage(draft, stage.key, changes))}
              onMove={(to) => move(stage.key, to, to < at ? "up" : "down")}
              onRemove={() => remove(stage.key, at)}
              onClose={close}
            />
          );
        })}
      </ol>
      <Button className="flow-add" onClick={add}>
        <Icon name="plus" />
        <span>
          Add a stage
          {stages.length > 1 && <> before {last?.name ? <bdi>{last.name}</bdi> : "the last one"}</>}
        </span>
      </Button>
    </>
  );
}

interface OccupiedProps extends Pick<StagesProps, "onKeep"> {
  readonly removal: readonly Effect[];
}

/** Where a removed stage was: why it cannot be removed yet. */
const StillOccupied = ({ removal, onKeep }: OccupiedProps) => (
  <li className="flow-removed">
    <div role="alert">
      <Effects effects={removal} onKeep={onKeep} />
    </div>
  </li>
);

interface PreviewProps extends Pick<StagesProps, "effects" | "onKeep"> {
  readonly project: Project;
  readonly mine: FlowDraft;
  /** Whether it is not known yet where the cards stand. */
  readonly isReading: boolean;
}

/** What saving does, before it is saved. */
function Preview({ project, mine, effects, isReading, onKeep }: PreviewProps) {
  const missing = useMissingBranches(project.id, useTyped(targetsOf(mine)));
  const warnings = describeMissing(mine, missing);
  return (
    <section className="flow-preview" aria-labelledby="flow-preview">
      <h2 id="flow-preview">What saving changes</h2>
      {effects.length === 0 && <p>Nothing yet.</p>}
      {effects.length > 0 && isReading && <p role="status">Reading where the cards stand…</p>}
      {!isReading && <Effects effects={effects} onKeep={onKeep} />}
      {warnings.length > 0 && <Effects effects={warnings} />}
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
