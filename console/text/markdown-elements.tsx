import MarkdownIt from "markdown-it";
import { createElement, Fragment, useMemo, type ReactNode } from "react";

/** Shows `[[target|text]]`, a link to a page of the board. Keep it the same between renderings. */
export type RenderPageLink = (target: string, text: string) => ReactNode;

/**
 * HTML stays text. Deeper nesting takes quadratic time. Addresses with other schemes than those of `validateLink`, such
 * as `javascript:`, stay text as well.
 */
const parser = new MarkdownIt("default", { html: false, linkify: false, typographer: false, maxNesting: 50 });
parser.validateLink = (address) => /^(?:https?:|mailto:|#|\/(?!\/))/i.test(address.trim());

/** `[[Title]]` or `[[slug|text]]`, as the service finds them. Not within another link. */
parser.inline.ruler.before("link", "page_link", (state, silent) => {
  const link = /\[\[([^[\]\n]+)\]\]/y;
  link.lastIndex = state.pos;
  const [whole = "", inside = ""] = state.linkLevel > 0 ? [] : (link.exec(state.src) ?? []);
  if (whole === "" || state.pos + whole.length > state.posMax || inside.trim() === "") return false;
  if (!silent) {
    const token = state.push("page_link", "", 0);
    token.content = inside;
    token.markup = whole;
  }
  state.pos += whole.length;
  return true;
});

type Token = ReturnType<typeof parser.parse>[number];

/** Elements that Markdown can produce. Any other token shows its text. */
const ELEMENTS = new Set(
  "p h1 h2 h3 h4 h5 h6 ul ol li blockquote em strong s a table thead tbody tr th td".split(" "),
);

/** Markdown as React elements: text that people and GitHub wrote never becomes HTML. */
export default function MarkdownElements({ text, pageLink }: Props) {
  return useMemo(() => renderAll(parser.parse(text, {}), pageLink), [text, pageLink]);
}

interface Props {
  readonly text: string;
  readonly pageLink: RenderPageLink | undefined;
}

/** Turns the flat list of opening and closing tokens into a tree. */
function renderAll(tokens: readonly Token[], pageLink: Props["pageLink"]): ReactNode {
  const open: { readonly token: Token | null; readonly children: ReactNode[] }[] = [
    { token: null, children: [] },
  ];
  for (const token of tokens) {
    if (token.nesting === 1) open.push({ token, children: [] });
    else if (token.nesting === -1) {
      const ended = open.pop();
      open.at(-1)?.children.push(element(ended?.token ?? null, ended?.children ?? []));
    } else open.at(-1)?.children.push(leaf(token, pageLink));
  }
  return withKeys(open[0]?.children ?? []);
}

function element(token: Token | null, children: readonly ReactNode[]): ReactNode {
  const content = withKeys(children);
  if (!token || token.hidden || !ELEMENTS.has(token.tag)) return content;
  if (token.tag === "a") return link(String(token.attrGet("href") ?? ""), content);
  // A heading of a text is below the headings of the page.
  const tag = /^h[1-6]$/.test(token.tag) ? `h${Math.min(Number(token.tag[1]) + 2, 6)}` : token.tag;
  const start = token.tag === "ol" ? Number(token.attrGet("start") ?? 1) : 1;
  return createElement(tag, start === 1 ? null : { start }, content);
}

function leaf(token: Token, pageLink: Props["pageLink"]): ReactNode {
  switch (token.type) {
    case "inline":
      return renderAll(token.children ?? [], pageLink);
    case "code_inline":
      return <code>{token.content}</code>;
    case "fence":
    case "code_block":
      return (
        <pre tabIndex={0}>
          <code>{token.content}</code>
        </pre>
      );
    case "softbreak":
      return "\n";
    case "hardbreak":
      return <br />;
    case "hr":
      return <hr />;
    // The page loads nothing from other hosts: a picture is a link to it.
    case "image":
      return link(String(token.attrGet("src") ?? ""), token.content || "image");
    case "page_link":
      return pageLink ? showPageLink(token.content, pageLink) : token.markup;
    default:
      return token.content;
  }
}

/** In a table the bar between target and text has a backslash. */
function showPageLink(inside: string, pageLink: RenderPageLink): ReactNode {
  const bar = inside.indexOf("|");
  const target = (bar < 0 ? inside : inside.slice(0, bar).replace(/\\$/, "")).trim();
  const text = bar < 0 ? "" : inside.slice(bar + 1).trim();
  return target === "" ? `[[${inside}]]` : pageLink(target, text || target);
}

const link = (address: string, content: ReactNode): ReactNode => (
  <a href={address} rel="noopener noreferrer nofollow ugc">
    {content}
  </a>
);

const withKeys = (children: readonly ReactNode[]): ReactNode =>
  children.map((child, index) => <Fragment key={index}>{child}</Fragment>);
