import type { ReactNode } from "react";
import type { CardLabel } from "../api/schema.d.ts";
import "./badge.css";

type Tone = "neutral" | "accent" | "danger" | "warning" | "success" | "inverse";

/** A short state, such as `draft` or `3 failing`. The color repeats the text. */
export const Badge = ({ tone = "neutral", children }: { tone?: Tone; children: ReactNode }) => (
  <span className={`badge badge-${tone}`}>{children}</span>
);

/** A label of a card: a colored dot and its name. */
export const LabelBadge = ({ label }: { readonly label: CardLabel }) => (
  <span className="label-badge" data-color={label.color}>
    <bdi>{label.name}</bdi>
  </span>
);
