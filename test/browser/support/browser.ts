import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { chromium, type Browser, type BrowserContext, type Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Desktop and phone. A desktop shows at least 30 cards. */
export const SIZES = { desktop: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } } as const;
export const SCHEMES = ["light", "dark"] as const;
type Scheme = (typeof SCHEMES)[number];

/** Starts Debian's chromium, or the browser of CHROMIUM_PATH. */
export const startBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium",
    // Chromium refuses its sandbox to root.
    args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
  });

export interface VisitorOptions {
  readonly size?: keyof typeof SIZES;
  readonly scheme?: Scheme;
  readonly reducedMotion?: boolean;
  /** Hosts besides the service that pages may load from: the forge, during a sign-in. */
  readonly allowedHosts?: readonly string[];
}

/** A browser profile with its own cookies. */
export interface Visitor {
  readonly context: BrowserContext;
  readonly page: Page;
  /** What pages must never do: violations of the Content-Security-Policy, requests to other hosts, uncaught errors. */
  problems(): readonly string[];
  close(): Promise<void>;
}

/** Opens a new profile that works with the service at `baseUrl`. */
export async function visit(
  browser: Browser,
  baseUrl: string,
  options: VisitorOptions = {},
): Promise<Visitor> {
  const { size = "desktop", scheme = "light", reducedMotion = false, allowedHosts = [] } = options;
  const context = await browser.newContext({
    baseURL: baseUrl,
    viewport: SIZES[size],
    colorScheme: scheme,
    reducedMotion: reducedMotion ? "reduce" : "no-preference",
    hasTouch: size === "phone",
    isMobile: size === "phone",
  });
  context.setDefaultTimeout(120_000);
  const problems: string[] = [];
  const hosts = new Set([new URL(baseUrl).host, ...allowedHosts]);
  await context.exposeBinding(
    "reportViolation",
    (_source, text: string) => void problems.push(`CSP: ${text}`),
  );
  await context.addInitScript(reportViolations);
  context.on("request", (request) => {
    const { protocol, host } = new URL(request.url());
    if (protocol.startsWith("http") && !hosts.has(host)) problems.push(`request to ${request.url()}`);
  });
  context.on("weberror", (error) => problems.push(`error: ${String(error.error())}`));
  const page = await context.newPage();
  return {
    context,
    page,
    problems: () => problems,
    close: () => context.close(),
  };
}

/** Runs in the page, before its own scripts. */
function reportViolations(): void {
  const target = globalThis as unknown as {
    addEventListener: (type: string, listener: (event: Record<string, string>) => void) => void;
    reportViolation: (text: string) => void;
  };
  target.addEventListener("securitypolicyviolation", (event) =>
    target.reportViolation(`${event["violatedDirective"]} ${event["blockedURI"]} ${event["sourceFile"]}`),
  );
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string | null;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

/** The problems that axe calls serious or critical, in both color schemes. */
export async function findInaccessible(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const scheme of SCHEMES) {
    await showScheme(page, scheme);
    const { violations } = await page.evaluate<AxeResult>(`${AXE}; globalThis.axe.run()`);
    for (const { id, impact, nodes } of violations) {
      if (impact !== "serious" && impact !== "critical") continue;
      found.push(
        ...nodes.map(({ html, failureSummary }) => `${scheme}: ${id}: ${html} ${failureSummary ?? ""}`),
      );
    }
  }
  return found;
}

/** Saves a picture of the page in both color schemes as `<name>-light.png` and `<name>-dark.png`. */
export async function takeScreenshots(page: Page, folder: string, name: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const scheme of SCHEMES) {
    await showScheme(page, scheme);
    await page.screenshot({ path: join(folder, `${name}-${scheme}.png`) });
  }
}

/** Changes the colors and waits until transitions have ended, whose colors nobody chose. */
async function showScheme(page: Page, colorScheme: Scheme): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.evaluate("Promise.allSettled(document.getAnimations().map((each) => each.finished))");
}
