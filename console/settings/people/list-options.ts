/**
 * How members, invitations, agents and API keys are read: the feed has no events of invitations and agents, so these
 * lists are read again every 30 s and when the window gets the focus.
 */
export const LIST_OPTIONS = { all: true, staleTime: 0, everyMs: 30_000 } as const;
