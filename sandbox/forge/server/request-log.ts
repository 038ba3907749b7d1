/** One API call as it was answered. */
export interface LoggedRequest {
  readonly method: string;
  /** `GET /repos/{owner}/{repo}/pulls/{pull_number}`, or null for an unknown address. */
  readonly route: string | null;
  readonly path: string;
  /** The name of a GraphQL operation, where it has one. */
  readonly operation: string | null;
  /** 0 where it was not answered. */
  readonly status: number;
  /** The caller's login, `app`, or null without credentials. */
  readonly by: string | null;
  /** Whether it counted against the rate limit. */
  readonly counted: boolean;
}

/** The calls answered since the start or the last reset, so that tests can count them. */
export interface RequestLog {
  readonly all: readonly LoggedRequest[];
  count(matches?: (request: LoggedRequest) => boolean): number;
  add(request: LoggedRequest): void;
  reset(): void;
}

/** Older ones are forgotten past this many. */
const KEPT = 10_000;

export function makeRequestLog(): RequestLog {
  const all: LoggedRequest[] = [];
  return {
    all,
    count: (matches = () => true) => all.filter(matches).length,
    add(request) {
      all.push(request);
      if (all.length > KEPT) all.shift();
    },
    reset() {
      all.length = 0;
    },
  };
}
