import { randomUUID } from "node:crypto";

/** The response to a request of a browser. */
export interface Page {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Undefined if it is not JSON. */
  readonly body: unknown;
  /** The address to which it redirects; empty if it does not. */
  readonly location: string;
}

/** A browser with cookies for one host. It follows no redirects by itself. */
export class Browser {
  readonly baseUrl: string;
  readonly cookies = new Map<string, string>();

  constructor(baseUrl: string) {
    this.baseUrl = baseUrl;
  }

  /** Requests a path of the service, or the address of another host, to which no cookies are sent. */
  async request(
    method: string,
    address: string,
    { body, headers = {} }: { body?: unknown; headers?: Readonly<Record<string, string>> } = {},
  ): Promise<Page> {
    const url = new URL(address, this.baseUrl);
    const isOurs = url.origin === this.baseUrl;
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(url, {
      method,
      redirect: "manual",
      headers: { ...(isOurs && cookie !== "" && { cookie }), ...headers },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    if (isOurs) this.#store(response.headers.getSetCookie());
    const text = await response.text();
    const { status } = response;
    const location = response.headers.get("location") ?? "";
    return { status, headers: response.headers, text, body: parsed(text), location };
  }

  get(address: string, headers?: Readonly<Record<string, string>>): Promise<Page> {
    return this.request("GET", address, headers && { headers });
  }

  /** A write of a page of the console. */
  write(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Page> {
    return this.request(method, path, {
      body,
      headers: {
        "sec-fetch-site": "same-origin",
        "idempotency-key": `browser-${randomUUID()}`,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
    });
  }

  /** Opens a page that starts a sign-in, and the page of the forge. Returns the forge's address. */
  async openSignIn(path = "/console/sign-in"): Promise<string> {
    const started = await this.get(path);
    if (started.status !== 302) throw new Error(`no redirect to the forge: ${started.text}`);
    return started.location;
  }

  /** Chooses an account on the forge's page. Returns the address to which it sends the browser. */
  async choose(authorizeUrl: string, login: string): Promise<string> {
    const page = await this.get(authorizeUrl);
    if (!page.text.includes(`Sign in as ${login}<`))
      throw new Error(`${login} is not on the page: ${page.text}`);
    const chosen = await this.request("POST", authorizeUrl, {
      body: new URLSearchParams({ login }).toString(),
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    return chosen.location;
  }

  /** Signs in. Returns the path at which the browser arrives. */
  async signIn(login: string, path?: string): Promise<string> {
    const returned = await this.choose(await this.openSignIn(path), login);
    const arrived = await this.get(returned);
    if (arrived.status !== 302) throw new Error(`the sign-in failed: ${arrived.text}`);
    return arrived.location;
  }

  #store(setCookies: readonly string[]): void {
    for (const each of setCookies) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(each) ?? [];
      if (value === "" || /expires=Thu, 01 Jan 1970/i.test(each)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
