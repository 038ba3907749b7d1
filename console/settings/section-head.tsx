import type { ReactNode } from "react";

interface Props {
  readonly title: string;
  /** What the section is for. */
  readonly about: ReactNode;
  /** Buttons at the end. */
  readonly children?: ReactNode;
}

/** The heading of a section of the settings. */
export const SectionHead = ({ title, about, children }: Props) => (
  <header className="settings-head">
    <div>
      <h1>{title}</h1>
      <p className="settings-about">{about}</p>
    </div>
    {children}
  </header>
);
