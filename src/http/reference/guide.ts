import { WORKSPACE_HEADER } from "../resolve.ts";
import { KEY_HEADER } from "../idempotency.ts";
import { html } from "./html.ts";
import { schemaLink } from "./schema-html.ts";

/** What holds for every call, so that no call has to say it again. */
export const guide = html`<section id="every-call">
  <h2>Every call</h2>
  <p>
    Requests and answers are JSON. Identifiers are opaque; cards are addressed by their number on the board.
    Timestamps are ISO 8601 in UTC. The machine-readable form of this page is
    <a href="/v1/openapi.json">/v1/openapi.json</a> (OpenAPI 3.1).
  </p>
  <dl>
    <dt><code>Authorization: Bearer &lt;API key&gt;</code></dt>
    <dd>
      The credential. It reads with the scope <code>read</code> and writes with <code>write</code>; what it
      writes is under its name. Without a valid key: 401.
    </dd>
    <dt><code>${WORKSPACE_HEADER}: &lt;workspace id&gt;</code></dt>
    <dd>
      The board, by its id from <a href="#getMe">GET /v1/me</a>. It may be left out where the credential
      reaches one board only. The account calls need none.
    </dd>
    <dt><code>${KEY_HEADER}: &lt;key&gt;</code></dt>
    <dd>
      On every call but GET: 16 to 255 characters from <code>A-Z a-z 0-9 _ . : -</code>, new for each request
      and the same for its retries. A retry gets the first answer again, with
      <code>Idempotent-Replay: true</code>, for 24 hours; the same key with another request is 409. What
      failed gives its key back.
    </dd>
    <dt>Bodies</dt>
    <dd>
      Sent as <code>application/json</code>, at most 1 MiB. A field that is not listed is refused, so that a
      typo does not pass unseen. Fields left out of a PATCH are untouched; <code>null</code> clears.
    </dd>
    <dt>Lists</dt>
    <dd>
      Come whole by default. With <code>limit</code> they come in pages; while there is more, the
      <code>Link</code> header has the address of the next one as <code>rel="next"</code>.
    </dd>
    <dt>Repeated reads</dt>
    <dd>
      Answers carry an <code>ETag</code>; sent back as <code>If-None-Match</code>, an unchanged one is 304
      without a body.
    </dd>
    <dt>Errors</dt>
    <dd>
      Are a ${schemaLink("Problem")}: <code>message</code> says why and what to do, <code>issues</code> names
      each field that is wrong. After 409 or 503 with <code>Retry-After</code> the same call can be made
      again. Every answer has an <code>X-Request-Id</code> to quote.
    </dd>
  </dl>
</section> `;
