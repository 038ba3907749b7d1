export interface LoggedRequest {
  readonly method: string;
  /** Such as `GET /repos/{owner}/{repo}`; null for an unknown path. */
  readonly route: string | null;
  readonly path: string;
  /** The name of a GraphQL operation. */
  readonly operation: string | null;
  /** 0 without a response. */
  readonly status: number;
  /** The caller's login, `app`, or null without credentials. */
  readonly by: string | null;
  /** Whether it counted against the rate limit. */
  readonly counted: boolean;
}

/** The calls since the start or the last reset, for tests. */
export interface RequestLog {
  readonly all: readonly LoggedRequest[];
  count(matches?: (request: LoggedRequest) => boolean): number;
  add(request: LoggedRequest): void;
  reset(): void;
}

const MAX_REQUESTS = 10_000;

export function makeRequestLog(): RequestLog {
  const all: LoggedRequest[] = [];
  return {
    all,
    count: (matches = () => true) => all.filter(matches).length,
    add(request) {
      all.push(request);
      if (all.length > MAX_REQUESTS) all.shift();
    },
    reset() {
      all.length = 0;
    },
  };
}
