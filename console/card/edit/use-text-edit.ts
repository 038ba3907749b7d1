import { useMemo, useState } from "react";
import { messageOf } from "../../api/problem.ts";
import { useDraft } from "../../api/use-draft.ts";

type Texts<Name extends string> = Readonly<Record<Name, string>>;

/** What a user types, and the texts when they began. */
interface Draft<Name extends string> {
  readonly mine: Texts<Name>;
  readonly base: Texts<Name>;
}

/** The texts that are edited, such as the title and the description of a card. */
interface Source<Name extends string> {
  /** Where the draft is kept, for example `card:<workspaceId>:7`. */
  readonly draftName: string;
  readonly fields: readonly Name[];
  /** As the page knows them. */
  readonly now: Texts<Name>;
  /** As the service has them. */
  readonly readNow: () => Promise<Texts<Name>>;
  readonly write: (changed: Partial<Texts<Name>>) => Promise<void>;
}

export interface TextEdit<Name extends string> {
  /** What the fields show; null while nobody edits. */
  readonly texts: Texts<Name> | null;
  readonly isDirty: boolean;
  /** Fields that the user and somebody else changed, differently. */
  readonly conflicts: readonly Name[];
  readonly isSaving: boolean;
  /** Why the last attempt to save failed. */
  readonly problem: string | null;
  open(): void;
  change(field: Name, text: string): void;
  /** Keeps the user's text, which the next save writes, or takes the other one. */
  resolve(field: Name, keeps: "mine" | "theirs"): void;
  save(): Promise<SaveOutcome>;
  /** Ends the edit. The function returned brings it back. */
  discard(): () => void;
}

type SaveOutcome = "saved" | "unchanged" | "conflict" | "failed";

/**
 * Edits texts. What is typed survives a reload, a failed save and a sign-in. A field that somebody else changes meanwhile
 * is not overwritten unless the user decides so.
 */
export function useTextEdit<Name extends string>(source: Source<Name>): TextEdit<Name> {
  const { draftName, fields, now, readNow, write } = source;
  const stored = useDraft(draftName);
  const [problem, setProblem] = useState<string | null>(null);
  const [isSaving, setIsSaving] = useState(false);
  const draft = useMemo(() => parseDraft<Name>(stored.text), [stored.text]);
  const keep = (next: Draft<Name>): void => stored.setText(JSON.stringify(next));
  const pick = (valueOf: (field: Name) => string): Texts<Name> =>
    Object.fromEntries(fields.map((field) => [field, valueOf(field)])) as Texts<Name>;
  const isChanged = (field: Name): boolean => draft !== null && draft.mine[field] !== draft.base[field];
  const isConflict = (field: Name, latest: Texts<Name>): boolean =>
    draft !== null &&
    isChanged(field) &&
    latest[field] !== draft.base[field] &&
    latest[field] !== draft.mine[field];

  const trySave = async ({ mine }: Draft<Name>): Promise<SaveOutcome> => {
    const latest = await readNow();
    if (fields.some((field) => isConflict(field, latest))) return "conflict";
    const changed = fields.filter((field) => isChanged(field)).map((field) => [field, mine[field]]);
    await write(Object.fromEntries(changed) as Partial<Texts<Name>>);
    stored.clear();
    return "saved";
  };

  return {
    // A field that the user has not changed shows the text of now.
    texts: draft && pick((field) => (isChanged(field) ? draft.mine[field] : now[field])),
    isDirty: fields.some((field) => isChanged(field)),
    conflicts: fields.filter((field) => isConflict(field, now)),
    isSaving,
    problem,
    open: () => {
      setProblem(null);
      const texts = pick((field) => now[field]);
      if (!draft) keep({ mine: texts, base: texts });
    },
    change: (field, text) => {
      if (!draft) return;
      const base = isChanged(field) ? draft.base[field] : now[field];
      keep({ mine: { ...draft.mine, [field]: text }, base: { ...draft.base, [field]: base } });
    },
    resolve: (field, keeps) => {
      if (!draft) return;
      const mine = keeps === "mine" ? draft.mine : { ...draft.mine, [field]: now[field] };
      keep({ mine, base: { ...draft.base, [field]: now[field] } });
    },
    save: async () => {
      if (isSaving || !draft) return "unchanged";
      if (!fields.some((field) => isChanged(field))) {
        stored.clear();
        return "unchanged";
      }
      setIsSaving(true);
      setProblem(null);
      try {
        return await trySave(draft);
      } catch (error) {
        setProblem(messageOf(error));
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

function parseDraft<Name extends string>(text: string): Draft<Name> | null {
  if (text === "") return null;
  try {
    return JSON.parse(text) as Draft<Name>;
  } catch {
    return null;
  }
}
