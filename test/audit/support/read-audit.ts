import { randomUUID } from "node:crypto";
import type { Db } from "../../../src/store/db/connect.ts";
import type { Api, ApiResponse } from "../../support/api.ts";

/** A line of `GET /v1/audit`. */
export interface AuditEntry {
  readonly id: string;
  readonly at: string;
  readonly actor: { readonly id: string | null; readonly name: string; readonly kind: string } | null;
  readonly credential: string | null;
  readonly action: string;
  readonly targets: Readonly<Record<string, string | number>>;
  readonly outcome: {
    readonly status: number | null;
    readonly problem: string | null;
    readonly replay: boolean;
  };
  readonly address: string;
  readonly userAgent: string | null;
  readonly requestId: string;
  readonly calls: readonly { readonly method: string; readonly ref: string; readonly result: string }[];
  readonly events: readonly number[];
  readonly hash: string | null;
}

const parsed = (lines: string): AuditEntry[] =>
  lines
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as AuditEntry);

/** The audit log of the board, as its maintainer reads it. */
export async function readAudit(api: Api, query = ""): Promise<AuditEntry[]> {
  const response = await api.get<string>(`/v1/audit${query}`);
  if (response.status !== 200) throw new Error(`the audit log was not read: ${response.text}`);
  return parsed(response.text);
}

/** The client id of an API key. */
export const clientIdOf = ({ apiKey }: Pick<Api, "apiKey">): string => apiKey.split("_")[1] ?? "";

interface AuditRow {
  readonly workspace_id: string | null;
  readonly actor: AuditEntry["actor"];
  readonly client_id: string | null;
  readonly action: string;
  readonly status: number | null;
  readonly problem: string | null;
  readonly is_replay: boolean;
}

/** All rows of the requests with a user agent. */
export const rowsOf = (db: Db, userAgent: string): Promise<AuditRow[]> =>
  db<AuditRow & { user_agent: string }>("audit_log").where({ user_agent: userAgent }).select("*");

/** Makes a call with its own user agent, by which its rows are found. */
export async function withUserAgent<Body>(
  call: (headers: { readonly headers: Readonly<Record<string, string>> }) => Promise<ApiResponse<Body>>,
): Promise<ApiResponse<Body> & { readonly userAgent: string }> {
  const userAgent = randomUUID();
  return { ...(await call({ headers: { "user-agent": userAgent } })), userAgent };
}
