import { conflict, invalid, Problem } from "../../errors.ts";
import { PersonTokenRefused, type PersonToken } from "../../forge/sign-in.ts";
import type { CardHead } from "../../store/cards/cards.ts";
import { transaction } from "../../store/db/transaction.ts";
import { listProposals, type ApprovableProposal } from "../../store/forge/proposals.ts";
import type { StoredResponse } from "../../store/ops/idempotency.ts";
import { findForgeToken, findSignedIn } from "../../store/tenancy/sessions.ts";
import type { Deps } from "../deps.ts";
import { depsGuardedByLink } from "../deps-guarded-by-link.ts";
import { openToken } from "../sessions/sealed-token.ts";
import type { Write } from "../write.ts";

/** How long the call waits for GitHub to merge. */
const WAIT_MS = 15_000;

interface ApprovalInput {
  /** The repository; null if only one has a proposal with this head. */
  readonly fullName: string | null;
  readonly headSha: string;
}

/**
 * Approves the proposal of an agent with the token of the person who calls, so that GitHub shows
 * that person: submits an approving review and merges the pull request into the card's branch. Nothing is
 * stored here: the webhooks of GitHub report both. A repeated call does what is missing.
 */
export async function approveProposal(
  deps: Deps,
  tokenKey: Buffer | null,
  write: Write,
  card: CardHead,
  { fullName, headSha }: ApprovalInput,
): Promise<StoredResponse> {
  const { trx, userId } = write;
  const proposal = onlyProposal(await listProposals(trx, card.id, headSha), card, fullName);
  const { forgeRef, repositoryId, number, mergeMethod: method } = proposal;
  if (!forgeRef) throw conflict(`The App cannot use the repository ${proposal.fullName} now.`);
  const token = await tokenOf(write, tokenKey);
  const person = await findSignedIn(trx, userId);
  if (!token || !person) throw reauthenticate(card);
  await write.commit();
  const { forge } = depsGuardedByLink(deps, card.id, repositoryId);
  const order = { number, headSha, method, reviewerId: person.forgeId, token };
  const result = await forge.approve(forgeRef, order, WAIT_MS).catch((error: unknown) => {
    throw error instanceof PersonTokenRefused ? reauthenticate(card) : error;
  });
  if (!result.ok) {
    const { reason, message } = result.refusal;
    throw new Problem("refused", message, { body: { reason, repository: proposal.fullName } });
  }
  const approved = { fullName: proposal.fullName, prNumber: number, headSha, ...result.value };
  return transaction(deps.db, (trx) => write.respondIn(trx, approved));
}

function onlyProposal(
  found: readonly ApprovableProposal[],
  { number }: CardHead,
  fullName: string | null,
): ApprovableProposal {
  const named = found.filter((each) => fullName === null || each.fullName === fullName);
  const [only] = named;
  if (!only) {
    throw conflict(
      `No agent proposes this head for card ${number} now. The proposal may have new commits: read it again.`,
    );
  }
  if (named.length === 1) return only;
  const names = named.map((each) => each.fullName).join(", ");
  throw invalid(`Several repositories have a proposal with this head. Name one as fullName: ${names}.`);
}

/** The token that the person gave when they signed in, null after its end. */
async function tokenOf({ trx, credentialId }: Write, tokenKey: Buffer | null): Promise<PersonToken | null> {
  const sealed = await findForgeToken(trx, credentialId);
  const token = sealed && tokenKey && openToken(sealed, tokenKey, credentialId);
  if (!token) return null;
  return token.expiresAt === null || Date.parse(token.expiresAt) > Date.now() ? token : null;
}

const reauthenticate = ({ number, workspaceId }: CardHead): Problem =>
  new Problem("forbidden", "Your access to GitHub has ended. Sign in again to approve as yourself.", {
    body: {
      code: "reauthenticate",
      signInUrl: `/console/sign-in?returnTo=${encodeURIComponent(`/b/${workspaceId}/cards/${number}`)}`,
    },
  });
