import { WORKSPACE_HEADER } from "../resolve.ts";
import { KEY_HEADER } from "../idempotency.ts";
import { html } from "./html.ts";
import { schemaLink } from "./schema-html.ts";

/** The rules of every call. */
export const guide = html`<section id="every-call">
  <h2>Every call</h2>
  <p>
    Requests and responses are JSON. Ids are UUIDs; a card is addressed by its number on the board. Timestamps
    are ISO 8601 in UTC. This page is generated from
    <a href="/v1/openapi.json">/v1/openapi.json</a> (OpenAPI 3.1). In the examples, <code>$TRUNKLINE</code> is
    the address of the service and <code>$API_KEY</code> your API key.
  </p>
  <dl>
    <dt><code>Authorization: Bearer &lt;API key&gt;</code></dt>
    <dd>
      Required on every call. The scope <code>read</code> allows reads, <code>write</code> allows writes.
      Without a valid key, the response is 401.
    </dd>
    <dt><code>${WORKSPACE_HEADER}: &lt;workspace id&gt;</code></dt>
    <dd>
      The id of the board, from <a href="#getMe">GET /v1/me</a>. Optional if the credential reaches only one
      board, and on <code>/v1/me</code>, <code>/v1/organizations</code> and <code>/v1/workspaces</code>.
    </dd>
    <dt><code>${KEY_HEADER}: &lt;key&gt;</code></dt>
    <dd>
      Required on every call except GET: 16 to 255 characters from <code>A-Z a-z 0-9 _ . : -</code>. Use a new
      key for each request and the same key for its retries. For 24 hours, a retry gets the stored response
      with <code>Idempotent-Replay: true</code>. The same key with another request is 409. The key of a failed
      call can be used again.
    </dd>
    <dt>Bodies</dt>
    <dd>
      <code>application/json</code>, at most 1 MiB. Fields and query parameters that are not listed are 400.
      PATCH does not change omitted fields; <code>null</code> clears a field.
    </dd>
    <dt>Lists</dt>
    <dd>
      A page has up to <code>limit</code> items (at most 200), or up to 1,000 without <code>limit</code>, and
      at most 256 KiB. The <code>Link</code> header has the address of the next page as
      <code>rel="next"</code>, relative to the service, and is absent on the last page.
    </dd>
    <dt>Conditional requests</dt>
    <dd>
      Responses have an <code>ETag</code>. Send it as <code>If-None-Match</code>: if nothing changed, the
      response is 304 without a body. A write with a stale <code>If-Match</code> returns 412.
    </dd>
    <dt>Errors</dt>
    <dd>
      A ${schemaLink("Problem")}: <code>message</code> has the reason and what to do,
      <code>issues</code> lists each invalid field. After a response with <code>Retry-After</code>, make the
      same call again. Every response has an <code>X-Request-Id</code>; quote it when you report a problem.
    </dd>
  </dl>
</section> `;
