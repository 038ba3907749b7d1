/** Markup that is safe to send: whatever text went into it was escaped. */
export class Html {
  readonly markup: string;
  constructor(markup: string) {
    this.markup = markup;
  }
}

/** What a template takes. */
export type Content = Html | string | number | null | undefined | false | readonly Content[];

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? "");

function markupOf(content: Content): string {
  if (content === null || content === undefined || content === false) return "";
  if (content instanceof Html) return content.markup;
  if (typeof content === "object") return content.map(markupOf).join("");
  return escaped(String(content));
}

/** Markup from a template: what is put into it is escaped unless it is markup itself. Nothing comes of null, undefined and false. */
export const html = (strings: TemplateStringsArray, ...contents: readonly Content[]): Html =>
  new Html(strings.map((string, at) => string + markupOf(contents[at])).join(""));

/** One sentence after another, with what stands between backticks as code. */
export const prose = (text: string): Html =>
  html`${text.split(/`([^`]+)`/).map((part, at) => (at % 2 === 0 ? part : html`<code>${part}</code>`))}`;

/** Parts with something between them. */
export const joined = (parts: readonly Content[], between: string): Html =>
  html`${parts.map((part, at) => (at === 0 ? part : [between, part]))}`;
