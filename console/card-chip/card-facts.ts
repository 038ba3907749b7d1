import type { BoardTask } from "../api/schema.d.ts";
import type { IconName } from "../components/icon.tsx";

type Repository = NonNullable<BoardTask["repositories"]>[number];

/** One thing that a card shows at a glance. */
export interface CardFact {
  readonly key: string;
  readonly icon: IconName;
  /** Next to the icon; often empty. */
  readonly short: string;
  /** The same as a sentence, for screen readers and the details. */
  readonly text: string;
  readonly tone: "quiet" | "accent" | "success" | "warning" | "danger";
}

const PULLS = {
  draft: ["pull", "quiet", "is a draft"],
  open: ["pull", "accent", "is open"],
  merged: ["merge", "success", "is merged"],
  closed: ["close", "danger", "is closed"],
} as const;
const CHECKS = {
  passing: ["check", "success"],
  failing: ["close", "danger"],
  pending: ["clock", "warning"],
} as const;
const REVIEWS = {
  approved: ["eye", "success", "approved"],
  changes_requested: ["edit", "danger", "changes requested"],
  review_required: ["eye", "warning", "review required"],
} as const;

/** The name without the owner. */
const shortName = (fullName: string): string => fullName.slice(fullName.indexOf("/") + 1);

/** What is known of a card's branch in one repository. */
function branchFacts(repository: Repository, isOnly: boolean): CardFact[] {
  const { fullName, branchName, prNumber, prState, checksState, reviewState } = repository;
  const { isBehind, hasConflicts, isInMergeQueue } = repository;
  const key = (name: string): string => `${fullName} ${name}`;
  const label = isOnly ? "" : `${shortName(fullName)} `;
  const facts: CardFact[] = [];
  if (prNumber !== null && prState !== null) {
    const [icon, tone, words] = PULLS[prState];
    const text = `Pull request #${prNumber} in ${fullName} ${words}`;
    facts.push({ key: key("pull"), icon, tone, short: `${label}#${prNumber}`, text });
  } else if (branchName !== null) {
    const text = `Branch ${branchName} in ${fullName}, no pull request`;
    facts.push({ key: key("branch"), icon: "branch", tone: "quiet", short: label.trim(), text });
  }
  const isEnded = prState === "merged" || prState === "closed";
  if (isEnded || branchName === null) return facts;
  const place = isOnly ? "" : ` in ${fullName}`;
  if (checksState !== null) {
    const [icon, tone] = CHECKS[checksState];
    facts.push({ key: key("checks"), icon, tone, short: "", text: `Checks ${checksState}${place}` });
  }
  if (reviewState !== null) {
    const [icon, tone, words] = REVIEWS[reviewState];
    facts.push({ key: key("review"), icon, tone, short: "", text: `Review: ${words}${place}` });
  }
  if (hasConflicts === true) {
    const text = `Conflicts with the target${place}`;
    facts.push({ key: key("conflicts"), icon: "alert", tone: "danger", short: "", text });
  } else if (isBehind === true) {
    facts.push({
      key: key("behind"),
      icon: "down",
      tone: "quiet",
      short: "",
      text: `Behind the target${place}`,
    });
  }
  if (isInMergeQueue === true) {
    facts.push({
      key: key("queue"),
      icon: "merge",
      tone: "accent",
      short: "",
      text: `In the merge queue${place}`,
    });
  }
  return facts;
}

interface Context {
  /** `YYYY-MM-DD`. */
  readonly today: string;
  readonly isDone: boolean;
  readonly stageName: (id: string) => string | undefined;
  readonly featureName: (id: string) => string | undefined;
}

/** What a card shows at a glance besides its title, labels, priority, assignee and claim. */
export function cardFacts(task: BoardTask, { today, isDone, stageName, featureName }: Context): CardFact[] {
  const { repositories = [], armed, dueDate, parentNumber, featureId, children, commentCount = 0 } = task;
  const facts = repositories.flatMap((repository) => branchFacts(repository, repositories.length === 1));
  if (armed) {
    const stage = stageName(armed.statusId) ?? "the next stage";
    const waits = armed.waitingFor.map(({ message }) => message).join(" ");
    const text = `Moves to ${stage} when ready${waits === "" ? "" : `. Waits for: ${waits}`}`;
    facts.push({ key: "armed", icon: "move", tone: "accent", short: stage, text });
  }
  if (dueDate) {
    const isOverdue = !isDone && dueDate < today;
    const [tone, text] = isOverdue
      ? (["danger", `Overdue since ${dueDate}`] as const)
      : (["quiet", `Due on ${dueDate}`] as const);
    facts.push({ key: "due", icon: "clock", tone, short: shortDay(dueDate), text });
  }
  if (children && children.total > 0) {
    const { done, total } = children;
    const tone = done === total ? "success" : "quiet";
    const text = `${done} of ${total} sub-cards done`;
    facts.push({ key: "children", icon: "backlog", tone, short: `${done}/${total}`, text });
  }
  if (typeof parentNumber === "number") {
    const text = `Sub-card of #${parentNumber}`;
    facts.push({ key: "parent", icon: "up", tone: "quiet", short: `#${parentNumber}`, text });
  }
  if (commentCount > 0) {
    const text = commentCount === 1 ? "1 comment" : `${commentCount} comments`;
    facts.push({ key: "comments", icon: "comment", tone: "quiet", short: String(commentCount), text });
  }
  const feature = featureId ? featureName(featureId) : undefined;
  if (feature !== undefined) {
    facts.push({ key: "feature", icon: "tag", tone: "quiet", short: feature, text: `Feature ${feature}` });
  }
  return facts;
}

const shortDay = (day: string): string =>
  new Intl.DateTimeFormat("en", { month: "short", day: "numeric", timeZone: "UTC" }).format(new Date(day));

/** Today in the time zone of the browser, as `YYYY-MM-DD`. */
export const localDay = (now = new Date()): string => new Intl.DateTimeFormat("sv").format(now);
