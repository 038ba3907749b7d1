import { useState } from "react";
import { useRead } from "../../api/reads.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { Button } from "../../components/button.tsx";
import { Choice } from "../../components/choice.tsx";
import { Field } from "../../components/field.tsx";
import { Select } from "../../components/select.tsx";
import { addressTime, localTime, type useFilters } from "./filters.ts";
import { ACTIONS } from "./sentences.ts";

const OUTCOMES = [
  { id: "success", name: "Done" },
  { id: "failure", name: "Refused or failed" },
] as const;

/** The actions; also the text of an address that names a part of one. */
function actionChoices(action: string): readonly (readonly [action: string, words: string])[] {
  const choices = [["", "Any"] as const, ...ACTIONS];
  const isKnown = choices.some(([known]) => known === action);
  return isKnown ? choices : [...choices, [action, `contains ${action}`]];
}

/** Which attempts are shown. Text is applied with Enter, or when the field is left. */
export function AuditFilters({ filters, change, clear, isFiltered }: ReturnType<typeof useFilters>) {
  const { keys } = useWorkspace();
  const { data: members = [] } = useRead(keys.list("members"), "GET /v1/members", {}, { all: true });
  const { actor, credential, action, outcome, from, to } = filters;
  return (
    <div className="audit-filters" role="search" aria-label="Filter the audit log">
      <Select
        label="Action"
        value={action}
        choices={actionChoices(action)}
        onChoose={(chosen) => change({ action: chosen })}
      />
      <Typed
        label="Key or session"
        placeholder="client id"
        value={credential}
        onApply={(text) => change({ credential: text })}
      />
      <Field
        label="From"
        type="datetime-local"
        value={localTime(from)}
        onChange={({ target }) => change({ from: addressTime(target.value) })}
      />
      <Field
        label="To"
        type="datetime-local"
        value={localTime(to)}
        error={from !== "" && to !== "" && from >= to ? "Choose a time after From." : undefined}
        onChange={({ target }) => change({ to: addressTime(target.value) })}
      />
      <div className="audit-choices">
        <Choice
          name="Person"
          chosen={actor || null}
          choices={members}
          onChoose={(id) => change({ actor: id ?? "" })}
        />
        <Choice
          name="Outcome"
          chosen={outcome || null}
          choices={OUTCOMES}
          onChoose={(id) => change({ outcome: id ?? "" })}
        />
        {isFiltered && (
          <Button kind="quiet" onClick={clear}>
            Clear
          </Button>
        )}
      </div>
    </div>
  );
}

interface TypedProps {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onApply: (text: string) => void;
}

function Typed({ value, onApply, ...field }: TypedProps) {
  const [shown, setShown] = useState({ value, text: value });
  // The value of the address has changed: another filter was chosen.
  if (shown.value !== value) setShown({ value, text: value });
  const isApplied = shown.text.trim() === value;
  const apply = (): void => {
    if (!isApplied) onApply(shown.text.trim());
  };
  return (
    <Field
      {...field}
      {...(!isApplied && { hint: "Press Enter to apply." })}
      type="search"
      value={shown.text}
      maxLength={100}
      onChange={({ target }) => setShown({ value, text: target.value })}
      onBlur={apply}
      onKeyDown={({ key }) => {
        if (key === "Enter") apply();
      }}
    />
  );
}
