import { ApiProblem } from "../api/problem.ts";
import type { Flow, ReleaseDetails, ReleasePreview } from "../api/schema.d.ts";
import { useDraft } from "../api/use-draft.ts";
import { useWrite } from "../api/use-write.ts";
import { Loading } from "../components/states.tsx";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { useDone } from "./freeze-dialogs.tsx";
import { CardWarning, missingIn } from "./card-warning.tsx";
import { Problem } from "./problem.tsx";
import { useFreshPreview, useReleasePreview } from "./reads.ts";
import { RepositoryTag, type DraftVersion, type InRepository } from "./repository-tag.tsx";
import { cardsOf } from "../text/counted.ts";
import { targetName } from "../text/rule.ts";

interface Props {
  readonly release: ReleaseDetails;
  readonly flow: Flow;
  readonly open: boolean;
  readonly onClose: () => void;
}

/** Asks for the tags, and shows which commits they name and what the notes say. */
export function CompleteDialog({ release, flow, open, onClose }: Props) {
  const { id, name } = release;
  const isEmpty = release.cards.length === 0;
  const announceAndClose = useDone(onClose);
  useFreshPreview(id, open);
  const { data: suggesting, error } = useReleasePreview(id, open);
  const entered = useVersions(id);
  const tags = (suggesting?.repositories ?? []).flatMap((repository) => {
    const tagName = entered.tagNameOf(repository);
    return tagName === "" ? [] : [`${repository.repositoryId}:${tagName}`];
  });
  // An invalid tag has no preview.
  const { data: previewing } = useReleasePreview(id, open && tags.length > 0, tags.join(","));
  const preview = previewing ?? suggesting;
  const repositories = preview?.repositories ?? [];
  const missing = missingIn(release, preview);
  const named = namedBranches(release, repositories);
  const done = flow.stages.find(({ kind }) => kind === "done")?.id;
  const unfinished = release.cards.filter(
    (card) => card.statusId !== null && card.statusId !== done && !missing.includes(card),
  );
  const complete = useWrite("POST /v1/releases/{id}/complete");
  const versions = repositories.flatMap((repository) => {
    const tagName = entered.tagNameOf(repository);
    const { repositoryId } = repository;
    // A published GitHub release cannot change.
    const draft = repository.complete.isPublished ? {} : entered.draftOf(repository);
    return tagName === "" ? [] : [{ ...draft, repositoryId, tagName }];
  });
  const untagged = repositories.filter(
    (repository) => repository.holdsCards && entered.tagNameOf(repository) === "",
  );
  const onSuccess = async (): Promise<void> => {
    entered.clear();
    await announceAndClose(`The release ${name} is completed`);
  };
  return (
    <ConfirmDialog
      open={open}
      onClose={onClose}
      title={`Complete ${name}`}
      confirm={confirmOf(isEmpty, missing.length)}
      isWide
      isBusy={complete.isPending}
      isDisabled={!preview}
      lacking={lackingTags(untagged)}
      error={areShownAtTags(complete.error) ? null : complete.error}
      onConfirm={() =>
        complete.mutate({ path: { id }, body: { versions } }, { onSuccess: () => void onSuccess() })
      }
    >
      {isEmpty && (
        <p className="release-warning">
          The release is empty: it has no cards, so its notes name none. To cancel it, delete it
          {release.frozenAt !== null && " after unfreezing it"}.
        </p>
      )}
      <CardWarning label="Cards without their work" cards={missing}>
        {release.frozenAt === null
          ? `The work of these cards is not merged into ${named}. The release contains it only if other work brought it there, which is checked with GitHub:`
          : "The work of these cards is not on the release branch. It will not be in the release unless you pick each card after its merge:"}
      </CardWarning>
      <CardWarning label="Cards outside the last stage" cards={unfinished}>
        These cards are not in the last stage. Completing the release does not move them:
      </CardWarning>
      <p>
        Writes a tag and a GitHub release with these notes in each repository that gets a tag. A completed
        release cannot be changed. {placeOfTags(release, flow, preview, named)}
      </p>
      <Problem error={error} />
      {!preview && !error && <Loading what="the notes" />}
      {preview && repositories.length === 0 && <p>The project has no repository, so nothing is tagged.</p>}
      {repositories.map((repository) => (
        <RepositoryTag
          key={repository.repositoryId}
          repository={repository}
          tagName={entered.tagNameOf(repository)}
          draft={entered.draftOf(repository)}
          onChange={(changes) => {
            entered.change(repository, changes);
            complete.reset();
          }}
          problem={problemIn(complete.error, versions, repository.repositoryId)}
        />
      ))}
    </ConfirmDialog>
  );
}

/** The branches that the tags are on or, after a freeze, that the release branches started from. */
function namedBranches(
  { frozenAt }: Pick<ReleaseDetails, "frozenAt">,
  repositories: readonly InRepository[],
): string {
  const branches = repositories.map(({ freeze, complete }) =>
    frozenAt === null ? complete.branchName : freeze.startsFrom,
  );
  return [...new Set(branches)].join(" or ");
}

/** Says which commits the tags name, and where they may be missing; nothing while there is no tag to write. */
function placeOfTags(
  { frozenAt }: Pick<ReleaseDetails, "frozenAt">,
  { stages }: Flow,
  preview: ReleasePreview | undefined,
  named: string,
): string {
  if (named === "") return "";
  if (frozenAt === null)
    return `The release is not frozen, so a tag points to the newest commit of ${named}, which may contain other cards, too.`;
  const sentences = [`A tag points to the newest commit of the release branch, which started from ${named}.`];
  if (preview?.unfreezeRefusal)
    sentences.push(`Commits were picked or pushed onto it, which ${named} may not contain.`);
  const targets = stages.flatMap(({ rule }) => (rule.type === "merge" ? [targetName(rule)] : []));
  const later = [...new Set(targets)].slice(1);
  if (later.length > 0)
    sentences.push(
      `Merges into ${later.join(" and ")} make new commits, so the tagged one may be missing there.`,
    );
  return sentences.join(" ");
}

function confirmOf(isEmpty: boolean, missing: number): string {
  if (isEmpty) return "Complete the empty release";
  return missing === 0 ? "Complete" : `Complete without ${cardsOf(missing)}`;
}

const lackingTags = (repositories: readonly InRepository[]): string | null =>
  repositories.length === 0
    ? null
    : `Enter a tag for ${repositories.map(({ fullName }) => fullName).join(", ")}, which holds cards of the release.`;

/** What was entered, by repository. It survives a reload. */
function useVersions(id: string) {
  const { text, setText, clear } = useDraft(`release-versions:${id}`);
  const drafts = parsed(text);
  const draftOf = ({ repositoryId }: InRepository): DraftVersion => drafts[repositoryId] ?? {};
  return {
    draftOf,
    /** The next version is suggested where cards need one. */
    tagNameOf: (repository: InRepository): string => {
      const { complete, holdsCards } = repository;
      if (complete.isPublished) return complete.tagName ?? "";
      const suggested = holdsCards ? complete.suggestedTagName : null;
      return draftOf(repository).tagName ?? complete.tagName ?? suggested ?? "";
    },
    change: (repository: InRepository, changes: DraftVersion): void => {
      const draft = { ...draftOf(repository), ...changes };
      setText(JSON.stringify({ ...drafts, [repository.repositoryId]: draft }));
    },
    clear,
  };
}

function parsed(text: string): Readonly<Record<string, DraftVersion>> {
  try {
    return JSON.parse(text || "{}") as Record<string, DraftVersion>;
  } catch {
    return {};
  }
}

const TAG_PATH = /^body\.versions\.\d+\./;

/** Whether each fault that the service found is shown at the tag that has it. */
const areShownAtTags = (error: Error | null): boolean =>
  error instanceof ApiProblem &&
  error.body.issues !== undefined &&
  error.body.issues.every(({ path }) => TAG_PATH.test(path));

/** What the service says about one of the tags. */
function problemIn(
  error: Error | null,
  versions: readonly { readonly repositoryId: string }[],
  repositoryId: string,
): string | undefined {
  if (!(error instanceof ApiProblem)) return undefined;
  const at = versions.findIndex((version) => version.repositoryId === repositoryId);
  return error.body.issues?.find(({ path }) => path.startsWith(`body.versions.${at}.`))?.message;
}
