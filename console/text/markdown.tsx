import { lazy, Suspense } from "react";
import type { RenderPageLink } from "./markdown-elements.tsx";
import "./markdown.css";

// The parser is a third of a page's code: the page shows the text without it first.
const MarkdownElements = lazy(() => import("./markdown-elements.tsx"));

interface Props {
  readonly text: string;
  /** Without it, links to pages stay text. */
  readonly pageLink?: RenderPageLink;
}

/** Markdown, shown as plain text until its parser is loaded. */
export function Markdown({ text, pageLink }: Props) {
  return (
    <div className="markdown" dir="auto">
      <Suspense fallback={<p className="markdown-source">{text}</p>}>
        <MarkdownElements text={text} pageLink={pageLink} />
      </Suspense>
    </div>
  );
}
