/** Markup in which all inserted text is escaped. */
export class Html {
  readonly markup: string;
  constructor(markup: string) {
    this.markup = markup;
  }
}

/** What a template accepts. null, undefined and false produce nothing. */
export type Content = Html | string | number | null | undefined | false | readonly Content[];

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function markupOf(content: Content): string {
  if (content === null || content === undefined || content === false) return "";
  if (content instanceof Html) return content.markup;
  if (typeof content === "object") return content.map(markupOf).join("");
  return String(content).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}

/** Markup from a template. Everything inserted is escaped unless it is markup. */
export const html = (strings: TemplateStringsArray, ...contents: readonly Content[]): Html =>
  new Html(strings.map((string, at) => string + markupOf(contents[at])).join(""));

/** Text with the parts between backticks as code. */
export const prose = (text: string): Html =>
  html`${text.split(/`([^`]+)`/).map((part, at) => (at % 2 === 0 ? part : html`<code>${part}</code>`))}`;

export const joined = (parts: readonly Content[], separator: string): Html =>
  html`${parts.map((part, at) => (at === 0 ? part : [separator, part]))}`;
