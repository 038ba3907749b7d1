import { Icon } from "../components/icon.tsx";
import type { CardFact } from "./card-facts.ts";
import "./fact-line.css";

/** Facts in one line of icons, as sentences for screen readers. */
export const FactLine = ({ facts }: { readonly facts: readonly CardFact[] }) =>
  facts.length === 0 ? null : (
    <ul className="fact-line" aria-label="State">
      {facts.map(({ key, icon, short, text, tone }) => (
        <li key={key} data-tone={tone}>
          <Icon name={icon} />
          {short !== "" && (
            <bdi aria-hidden="true" className="fact-short">
              {short}
            </bdi>
          )}
          <span className="visually-hidden">{text}. </span>
        </li>
      ))}
    </ul>
  );

/** The same facts, one a line. */
export const FactList = ({ facts }: { readonly facts: readonly CardFact[] }) => (
  <ul className="fact-list">
    {facts.map(({ key, icon, text, tone }) => (
      <li key={key} data-tone={tone}>
        <Icon name={icon} />
        <bdi>{text}</bdi>
      </li>
    ))}
  </ul>
);
