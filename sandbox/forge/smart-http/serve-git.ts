import type { IncomingMessage, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import type { RequestHandler } from "express";
import type { ForgeContext } from "../context.ts";
import type { RepositoryRow } from "../rows.ts";
import { findRepository, permits, roleIn } from "../server/access.ts";
import { ApiError } from "../server/api-error.ts";
import { authenticate } from "../server/authenticate.ts";
import type { Caller } from "../server/caller.ts";
import { runHttpBackend } from "./http-backend.ts";
import { receivePush } from "./receive-push.ts";

const GIT_PATH = /^\/([\w.[\]-]+)\/([\w.-]+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/;

/** Clone, fetch and push over HTTP. The password is a token; the user name is not checked. */
export function serveGit(forge: ForgeContext): RequestHandler {
  return (request, response, next) => {
    const url = new URL(request.originalUrl, "http://localhost");
    const [, owner, name, service] =
      GIT_PATH.exec(url.pathname.replaceAll("%5B", "[").replaceAll("%5D", "]")) ?? [];
    if (owner === undefined || name === undefined || service === undefined) {
      next();
      return;
    }
    serve(forge, request, response, { owner, name, service, query: url.search.slice(1) }).catch(
      (error: unknown) => {
        sendError(forge, response, error);
      },
    );
  };
}

interface GitRequest {
  readonly owner: string;
  readonly name: string;
  readonly service: string;
  readonly query: string;
}

async function serve(
  forge: ForgeContext,
  request: IncomingMessage,
  response: ServerResponse,
  git: GitRequest,
): Promise<void> {
  const isPush = git.service === "git-receive-pack" || git.query.includes("service=git-receive-pack");
  const caller = authenticate(forge, request.headers.authorization);
  const repository = authorize(forge, caller, git, isPush);
  const backend = {
    path: forge.git.repository(repository.id).path,
    service: git.service,
    query: git.query,
    method: request.method ?? "GET",
    contentType: request.headers["content-type"] ?? "",
    protocol: String(request.headers["git-protocol"] ?? ""),
    by: caller.kind === "anonymous" || caller.kind === "app" ? "anonymous" : caller.account.login,
  };
  if (git.service === "git-receive-pack" && (caller.kind === "person" || caller.kind === "installation")) {
    const body = await readBody(request);
    await receivePush(forge, repository, caller.account, body, (env, beforeEnd) =>
      runHttpBackend(forge.git, { ...backend, env, beforeEnd }, body, response),
    );
  } else
    await runHttpBackend(
      forge.git,
      backend,
      request.method === "POST" ? await readBody(request) : null,
      response,
    );
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const body = await buffer(request);
  return request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body;
}

/** Returns the repository or throws; without credentials a 401, as on GitHub. */
function authorize(forge: ForgeContext, caller: Caller, git: GitRequest, isPush: boolean): RepositoryRow {
  const found = findRepository(forge, git.owner, git.name);
  const repository = found === null ? null : "movedTo" in found ? found.movedTo : found.repository;
  const role = repository === null ? null : roleIn(forge, caller, repository);
  if (repository === null || role === null)
    throw caller.kind === "anonymous"
      ? new ApiError(401, "Repository not found.")
      : new ApiError(404, "Repository not found.");
  if (isPush && caller.kind === "anonymous") throw new ApiError(401, "Authentication required.");
  const isPermitted =
    caller.kind !== "installation" ||
    permits(caller.permissions, isPush ? "contents:write" : "contents:read");
  if (!isPermitted || (isPush && role === "read"))
    throw new ApiError(403, `Permission to ${git.owner}/${git.name}.git denied.`);
  if (isPush && repository.archived)
    throw new ApiError(403, "This repository was archived so it is read-only.");
  return repository;
}

function sendError(forge: ForgeContext, response: ServerResponse, error: unknown): void {
  if (!(error instanceof ApiError)) forge.log.error({ err: error }, "git over HTTP failed");
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, message } = error instanceof ApiError ? error : { status: 500, message: "Server Error" };
  response.writeHead(status, {
    "content-type": "text/plain; charset=utf-8",
    ...(status === 401 ? { "www-authenticate": 'Basic realm="GitHub"' } : {}),
  });
  response.end(`${message}\n`);
}
