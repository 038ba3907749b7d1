import { Field } from "../../components/field.tsx";
import { Select } from "../../components/select.tsx";
import { counted } from "../../text/counted.ts";
import type { FlowSettings } from "./draft.ts";

const METHODS = [
  ["merge", "Merge commit"],
  ["squash", "Squash"],
  ["rebase", "Rebase"],
] as const;
const CHECKS = [
  ["required", "Required for a merge"],
  ["ignored", "Ignored"],
] as const;
const APPROVALS = [
  ["independent", "Of somebody who did not work on it"],
  ["any", "Of anybody who may approve"],
] as const;
const BYPASS = [
  ["off", "Have to be met"],
  ["on", "GitHub decides"],
] as const;
const RELEASES = [
  ["on", "Used"],
  ["off", "Not used"],
] as const;

const textOf = <Value extends string>(choices: readonly (readonly [Value, string])[], value: Value): string =>
  choices.find(([each]) => each === value)?.[1] ?? value;

/** The settings of a flow besides its stages. */
export const SettingsList = ({ settings }: { readonly settings: FlowSettings }) => (
  <section className="flow-settings-shown" aria-labelledby="flow-settings">
    <h2 id="flow-settings">Settings</h2>
    <dl className="flow-settings-list">
      <dt>Branch of a card</dt>
      <dd className="mono">{settings.branchPattern}</dd>
      <dt>Merge method</dt>
      <dd>{textOf(METHODS, settings.mergeMethod)}</dd>
      <dt>Checks</dt>
      <dd>{textOf(CHECKS, settings.checks)}</dd>
      <dt>Required approvals</dt>
      <dd>{textOf(APPROVALS, settings.independentApproval ? "independent" : "any")}</dd>
      <dt>Rules that the App may bypass</dt>
      <dd>{textOf(BYPASS, settings.bypassRules ? "on" : "off")}</dd>
      <dt>Checks start within</dt>
      <dd>{counted(settings.checksStartSeconds, "second")}</dd>
      <dt>Releases</dt>
      <dd>{settings.releases ? "Used" : "Not used"}</dd>
      <dt>A card counts as waiting too long after</dt>
      <dd>{counted(settings.staleAfterDays, "day")}</dd>
      <dt>An agent counts as stopped after</dt>
      <dd>{counted(settings.agentSilenceHours, "hour")}</dd>
    </dl>
  </section>
);

interface Props {
  readonly settings: FlowSettings;
  readonly onChange: (settings: FlowSettings) => void;
}

/** The same settings as fields. */
export function SettingsFields({ settings, onChange }: Props) {
  const set = (changes: Partial<FlowSettings>): void => onChange({ ...settings, ...changes });
  return (
    <fieldset className="flow-settings">
      <legend>Settings</legend>
      <Field
        label="Branch of a card"
        hint="{number} is the card's number, {slug} its title"
        maxLength={200}
        value={settings.branchPattern}
        onChange={(event) => set({ branchPattern: event.target.value })}
      />
      <Select
        label="Merge method"
        value={settings.mergeMethod}
        choices={METHODS}
        onChoose={(mergeMethod) => set({ mergeMethod })}
      />
      <Select
        label="Checks"
        value={settings.checks}
        choices={CHECKS}
        onChoose={(checks) => set({ checks })}
      />
      <Select
        label="Required approvals"
        value={settings.independentApproval ? "independent" : "any"}
        choices={APPROVALS}
        onChoose={(value) => set({ independentApproval: value === "independent" })}
      />
      <Select
        label="Rules that the App may bypass"
        value={settings.bypassRules ? "on" : "off"}
        choices={BYPASS}
        onChoose={(value) => set({ bypassRules: value === "on" })}
      />
      <Field
        label="Seconds until checks have started after a push"
        type="number"
        min={0}
        max={600}
        value={settings.checksStartSeconds}
        onChange={(event) => set({ checksStartSeconds: event.target.valueAsNumber || 0 })}
      />
      <Select
        label="Releases"
        value={settings.releases ? "on" : "off"}
        choices={RELEASES}
        onChoose={(value) => set({ releases: value === "on" })}
      />
      <Field
        label="Days until a card counts as waiting too long"
        type="number"
        min={1}
        max={365}
        value={settings.staleAfterDays || ""}
        onChange={(event) => set({ staleAfterDays: event.target.valueAsNumber || 0 })}
      />
      <Field
        label="Hours until an agent counts as stopped"
        type="number"
        min={1}
        max={720}
        value={settings.agentSilenceHours || ""}
        onChange={(event) => set({ agentSilenceHours: event.target.valueAsNumber || 0 })}
      />
    </fieldset>
  );
}
