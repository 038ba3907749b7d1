import type { ReactNode } from "react";
import { Icon } from "./icon.tsx";
import "./banner.css";

interface Props {
  readonly tone: "danger" | "warning";
  readonly title: string;
  readonly children?: ReactNode;
}

/** A condition of the whole board, across the page below the top bar. */
export const Banner = ({ tone, title, children }: Props) => (
  <div className={`banner banner-${tone}`} role="status">
    <Icon name="alert" />
    <div className="banner-text">
      <strong>{title}</strong> {children}
    </div>
  </div>
);
