import { useState } from "react";
import { useRead } from "../../api/reads.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { Button } from "../../components/button.tsx";
import { Choice } from "../../components/choice.tsx";
import { Field } from "../../components/field.tsx";
import { addressTime, localTime, type useFilters } from "./filters.ts";

const OUTCOMES = [
  { id: "success", name: "Done" },
  { id: "failure", name: "Refused or failed" },
] as const;

/** Which attempts are shown. Text is applied with Enter, or when the field is left. */
export function AuditFilters({ filters, change, clear, isFiltered }: ReturnType<typeof useFilters>) {
  const { keys } = useWorkspace();
  const { data: members = [] } = useRead(keys.list("members"), "GET /v1/members", {}, { all: true });
  const { actor, credential, action, outcome, from, to } = filters;
  return (
    <div className="audit-filters" role="search" aria-label="Filter the audit log">
      <Typed
        label="Action"
        placeholder="in a path, such as /move"
        value={action}
        onApply={(text) => change({ action: text })}
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
  const apply = (): void => {
    if (shown.text.trim() !== value) onApply(shown.text.trim());
  };
  return (
    <Field
      {...field}
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
