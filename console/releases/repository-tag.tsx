import { useId, useState } from "react";
import type { ReleasePreview } from "../api/schema.d.ts";
import { shortSha } from "../card/git/external-link.tsx";
import { Button } from "../components/button.tsx";
import { Field } from "../components/field.tsx";
import { Markdown } from "../text/markdown.tsx";

export type InRepository = ReleasePreview["repositories"][number];

/** What a person has entered for a repository; the service decides the rest. */
export interface DraftVersion {
  readonly tagName?: string;
  readonly prerelease?: boolean;
  readonly latest?: boolean;
  readonly notes?: string;
}

interface Props {
  readonly repository: InRepository;
  readonly tagName: string;
  readonly draft: DraftVersion;
  readonly onChange: (changes: DraftVersion) => void;
  readonly problem: string | undefined;
}

/** Asks for the tag in a repository, and shows how its GitHub release would be published. */
export function RepositoryTag({ repository, tagName, draft, onChange, problem }: Props) {
  const { fullName, holdsCards, complete } = repository;
  const { branchName, sha } = complete;
  return (
    <section className="release-tag" aria-label={fullName}>
      <Field
        label={`Tag in ${fullName}`}
        placeholder={holdsCards ? "For example v1.4.0" : "Without a tag, nothing is written here"}
        hint={
          branchName === null
            ? "The release has no branch here. Freeze it again to create one."
            : `At ${branchName}${sha === null ? "" : `, last known commit ${shortSha(sha)}`}`
        }
        value={tagName}
        disabled={complete.isPublished}
        onChange={(event) => onChange({ tagName: event.target.value })}
        error={problem}
      />
      {tagName !== "" && !complete.isPublished && <Flags {...{ complete, draft, onChange }} />}
      {(holdsCards || tagName !== "") && <Notes {...{ repository, tagName, draft, onChange }} />}
    </section>
  );
}

function Flags({
  complete,
  draft,
  onChange,
}: Pick<Props, "draft" | "onChange"> & Pick<InRepository, "complete">) {
  const isPrerelease = draft.prerelease ?? complete.prerelease ?? false;
  const isLatest = !isPrerelease && (draft.latest ?? complete.latest ?? false);
  return (
    <p className="release-flags">
      <label>
        <input
          type="checkbox"
          checked={isPrerelease}
          onChange={({ target: { checked } }) =>
            onChange({ prerelease: checked, ...(checked && { latest: false }) })
          }
        />{" "}
        Prerelease
      </label>{" "}
      <label>
        <input
          type="checkbox"
          checked={isLatest}
          disabled={isPrerelease}
          onChange={({ target: { checked } }) => onChange({ latest: checked })}
        />{" "}
        Latest release on GitHub
      </label>
    </p>
  );
}

function Notes({ repository, tagName, draft, onChange }: Omit<Props, "problem">) {
  const { fullName, complete } = repository;
  const [isEditing, setIsEditing] = useState(false);
  const titleId = useId();
  const notes = draft.notes ?? complete.notes;
  return (
    <>
      <p className="release-hint" id={titleId}>
        {tagName === "" ? `Notes in ${fullName}` : `Notes of ${tagName} in ${fullName}`}
      </p>
      {!complete.isPublished && (
        <Button kind="quiet" aria-pressed={isEditing} onClick={() => setIsEditing(!isEditing)}>
          Edit the notes
        </Button>
      )}
      {isEditing ? (
        <textarea
          className="release-notes"
          rows={8}
          aria-labelledby={titleId}
          value={notes}
          onChange={({ target }) => onChange({ notes: target.value })}
        />
      ) : (
        <div className="release-notes" tabIndex={0} role="group" aria-labelledby={titleId}>
          <Markdown text={notes} />
        </div>
      )}
    </>
  );
}
