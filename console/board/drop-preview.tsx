import type { MovePlan } from "../api/schema.d.ts";
import { Icon } from "../components/icon.tsx";
import { isRefused, placeOf, reasonsOf, stepText, type Preview } from "./moves/plan.ts";
import "./moves/plan.css";

/** What a column shows while a card is dragged: what would happen, or why the card may not enter. */
export function DropPreview({ preview: { plan, isFailed } }: { readonly preview: Preview }) {
  if (isFailed)
    return (
      <div className="drop-preview">
        What the move would do could not be read. You can drop the card here all the same.
      </div>
    );
  if (!plan)
    return <div className="drop-preview drop-preview-waiting">Checking what the move would do …</div>;
  const isNo = isRefused(plan);
  return (
    <div className="drop-preview" data-refused={isNo || undefined}>
      {isNo && (
        <p className="drop-preview-head">
          <Icon name="alert" /> May not enter
        </p>
      )}
      <Steps plan={plan} />
      {!plan.wouldMove && <Reasons plan={plan} />}
    </div>
  );
}

/** The steps of a plan, in order. */
export function Steps({ plan }: { readonly plan: MovePlan }) {
  if (isRefused(plan)) return null;
  if (plan.steps.length === 0)
    return (
      <p>{plan.certainty === "unknown" ? "GitHub is still deciding what would happen." : "No Git change."}</p>
    );
  return (
    <ol className="steps">
      {plan.steps.map((step) => (
        <li key={`${step.fullName} ${step.action}`} data-action={step.action}>
          <Icon name={step.action === "merge" ? "merge" : "branch"} />
          <span>
            {stepText(step)}
            {placeOf(plan, step) !== null && <span className="mono steps-place"> {step.fullName}</span>}
          </span>
        </li>
      ))}
    </ol>
  );
}

export const Reasons = ({ plan }: { readonly plan: MovePlan }) => (
  <>
    {!isRefused(plan) && <p>GitHub will probably refuse:</p>}
    <ul className="reasons">
      {reasonsOf(plan).map((reason) => (
        <li key={reason} dir="auto">
          {reason}
        </li>
      ))}
    </ul>
  </>
);
