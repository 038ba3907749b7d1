import { eventually, type Api } from "../api.ts";

export interface TrunkReport {
  readonly from: string;
  readonly to: string;
  readonly delivered: readonly {
    readonly number: number;
    readonly title: string;
    readonly deliveredAt: string;
    readonly leadTimeDays: number;
    readonly repositories: readonly {
      readonly fullName: string;
      readonly targetBranch: string;
      readonly prNumber: number;
      readonly sha: string | null;
      readonly mergedBy: { readonly user: { readonly name: string }; readonly login: string | null } | null;
    }[];
  }[];
  readonly promised: readonly {
    readonly number: number;
    readonly releaseName: string;
    readonly statusId: string;
  }[];
  readonly numbers: {
    readonly landed: number;
    readonly owed: number;
    readonly refusals: number;
    readonly reverts: number;
    readonly leadTimeDays: number | null;
  };
  readonly releases: readonly {
    readonly name: string;
    readonly completedAt: string;
    readonly cards: readonly { readonly number: number }[];
  }[];
  readonly landings: readonly {
    readonly fullName: string;
    readonly branchName: string;
    readonly sha: string;
    readonly title: string;
    readonly author: string | null;
    readonly prNumber: number | null;
    readonly card: { readonly number: number; readonly title: string } | null;
    readonly via: string;
    readonly reverts: string | null;
    readonly at: string;
  }[];
}

/** The trunk report of the board's only project. */
export async function readTrunk(api: Api, query = ""): Promise<TrunkReport> {
  const response = await api.get<TrunkReport>(`/v1/trunk${query}`);
  if (response.status !== 200) throw new Error(`reading the trunk report failed: ${response.text}`);
  return response.body;
}

/** The report when it has this number of landings. */
export const trunkWhenLanded = (api: Api, count: number, query = ""): Promise<TrunkReport> =>
  eventually(
    () => readTrunk(api, query),
    ({ landings }) => landings.length === count,
  );
