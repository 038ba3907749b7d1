import { useMutation, useQueryClient } from "@tanstack/react-query";
import { messageOf } from "../../api/problem.ts";
import { useInbox } from "../../api/reads.ts";
import type { InboxItem } from "../../api/schema.d.ts";
import { useWorkspace } from "../../api/workspace.tsx";
import { useAnnounce } from "../../components/announcer.tsx";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Icon } from "../../components/icon.tsx";
import { Ago } from "../../text/time.tsx";
import { ExternalLink, gitHubPages, shortSha } from "./external-link.tsx";
import { approveProposal } from "./approve-proposal.ts";
import { Refused } from "./refused.tsx";

type Waiting = Extract<InboxItem, { kind: "proposal_waiting" }>;

/** Pull requests of agents into the card's branch, which only a person can approve. */
export function Proposals({ number, mayApprove }: { readonly number: number; readonly mayApprove: boolean }) {
  const { data: items = [] } = useInbox();
  return items
    .filter((item): item is Waiting => item.kind === "proposal_waiting" && item.card?.number === number)
    .map((item) => <Proposal key={item.id} number={number} item={item} mayApprove={mayApprove} />);
}

interface Props {
  readonly number: number;
  readonly item: Waiting;
  readonly mayApprove: boolean;
}

function Proposal({ number, item: { repository, data, at }, mayApprove }: Props) {
  const { client, session, keys } = useWorkspace();
  const queries = useQueryClient();
  const announce = useAnnounce();
  const { mutate, isPending, error } = useMutation({
    networkMode: "always",
    mutationFn: () =>
      approveProposal(client, number, { fullName: repository ?? undefined, headSha: data.headSha }),
    onSuccess: ({ state }) =>
      announce(
        state === "merged"
          ? `Approved and merged #${data.prNumber}`
          : `Approved #${data.prNumber}. GitHub merges it soon.`,
      ),
    onError: (problem) => announce(`Not approved. ${messageOf(problem)}`),
    onSettled: () => queries.invalidateQueries({ queryKey: keys.inbox }),
  });
  const pages = gitHubPages(session.forgeUrl, repository ?? "");
  return (
    <section className="panel proposal" aria-label={`Proposal #${data.prNumber}`}>
      <h2>
        <Icon name="pull" />
        <span>
          Proposal by <bdi>{data.login ?? "an agent"}</bdi>
        </span>
        {data.isDraft && <Badge>draft</Badge>}
      </h2>
      <p className="proposal-title">
        <ExternalLink href={pages.pull(data.prNumber)}>
          <bdi>{data.title}</bdi> #{data.prNumber}
        </ExternalLink>
      </p>
      <p className="proposal-place">
        <code>{data.headBranch}</code> into <code>{data.targetBranch}</code> at{" "}
        <ExternalLink href={pages.commit(data.headSha)} className="mono">
          {shortSha(data.headSha)}
        </ExternalLink>
        <Ago at={at} />
      </p>
      {error && <Refused error={error} />}
      {mayApprove && (
        <div className="form-actions">
          <Button kind="primary" isBusy={isPending} onClick={() => mutate()}>
            <Icon name="check" />
            {isPending ? "Approving…" : `Approve and merge as ${session.user.login}`}
          </Button>
          <span className="proposal-note">GitHub shows you as the reviewer.</span>
        </div>
      )}
    </section>
  );
}
