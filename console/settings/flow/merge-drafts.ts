import {
  isSame,
  orderOf,
  placeAfter,
  stageIn,
  type DraftStage,
  type FlowDraft,
  type FlowSettings,
} from "./draft.ts";

/**
 * Applies the user's edits to a flow that somebody else changed meanwhile. `base` is the flow at which both began. Where
 * both changed the same, the user's value stays.
 */
export function mergeDrafts(base: FlowDraft, mine: FlowDraft, theirs: FlowDraft): FlowDraft {
  const isWanted = ({ key }: DraftStage): boolean => {
    const [before, own, other] = [base, mine, theirs].map((draft) => stageIn(draft, key));
    if (!before) return true;
    // What somebody else removed stays only if the user has changed it.
    return own !== undefined && (other !== undefined || !isSame(own, before));
  };
  const keepsOrder = isSame(orderOf(base, mine), orderOf(mine, base));
  const [lead, other] = keepsOrder ? [theirs, mine] : [mine, theirs];
  let stages = lead.stages.filter(isWanted);
  for (const [at, stage] of other.stages.entries()) {
    if (!isWanted(stage) || stages.some(({ key }) => key === stage.key)) continue;
    stages = stages.toSpliced(placeAfter(stages, other.stages, at), 0, stage);
  }
  return {
    settings: mergeFields(base.settings, mine.settings, theirs.settings),
    stages: stages.map(({ key }) => mergeStage(key, base, mine, theirs)),
  };
}

function mergeStage(key: string, base: FlowDraft, mine: FlowDraft, theirs: FlowDraft): DraftStage {
  const [before, own, other] = [base, mine, theirs].map((draft) => stageIn(draft, key));
  if (before && own && other) return mergeFields(before, own, other);
  // Removed by somebody else but changed by the user: a new stage with the same content.
  if (before && own) return { ...own, id: null };
  return (own ?? other) as DraftStage;
}

/** Each field as the user changed it, otherwise as it is now. */
function mergeFields<Fields extends DraftStage | FlowSettings>(
  base: Fields,
  mine: Fields,
  now: Fields,
): Fields {
  const names = Object.keys(now) as (keyof Fields)[];
  return Object.fromEntries(
    names.map((name) => [name, isSame(base[name], mine[name]) ? now[name] : mine[name]]),
  ) as unknown as Fields;
}
