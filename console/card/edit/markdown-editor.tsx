import { useId, useState, type Ref } from "react";
import { Button } from "../../components/button.tsx";
import { TextArea } from "../../components/field.tsx";
import type { RenderPageLink } from "../../text/markdown-elements.tsx";
import { Markdown } from "../../text/markdown.tsx";
import "./editor.css";

interface Props {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly rows: number;
  readonly maxLength: number;
  readonly placeholder?: string;
  readonly areaRef?: Ref<HTMLTextAreaElement>;
  /** How the preview shows links to pages. */
  readonly pageLink?: RenderPageLink;
}

/** Markdown as text, and as it will look. */
export function MarkdownEditor(props: Props) {
  const { label, value, onChange, rows, maxLength, placeholder, areaRef, pageLink } = props;
  const [isPreview, setIsPreview] = useState(false);
  const preview = useId();
  return (
    <div className="markdown-editor">
      <div className="markdown-editor-modes" role="group" aria-label={`${label}: view`}>
        <Button kind="quiet" aria-pressed={!isPreview} onClick={() => setIsPreview(false)}>
          Write
        </Button>
        <Button
          kind="quiet"
          aria-pressed={isPreview}
          aria-controls={preview}
          onClick={() => setIsPreview(true)}
        >
          Preview
        </Button>
        <span className="markdown-editor-hint">Markdown</span>
      </div>
      <div hidden={isPreview}>
        <TextArea
          label={label}
          isLabelHidden
          value={value}
          rows={rows}
          maxLength={maxLength}
          placeholder={placeholder}
          dir="auto"
          onChange={(event) => onChange(event.target.value)}
          {...(areaRef && { ref: areaRef })}
        />
      </div>
      <div id={preview} className="markdown-editor-preview" hidden={!isPreview}>
        {isPreview &&
          (value.trim() === "" ? (
            <p className="markdown-editor-empty">Nothing to preview.</p>
          ) : (
            <Markdown text={value} {...(pageLink && { pageLink })} />
          ))}
      </div>
    </div>
  );
}
