import type { Label } from "../../api/schema.d.ts";

export type Color = Label["color"];

const COLORS = [
  "gray",
  "red",
  "orange",
  "yellow",
  "green",
  "teal",
  "blue",
  "indigo",
  "purple",
  "pink",
] as const;

interface Props {
  readonly value: Color;
  readonly onChoose: (color: Color) => void;
}

/** The colors of labels and features, as radio buttons. */
export const Colors = ({ value, onChoose }: Props) => (
  <fieldset className="colors">
    <legend className="field-label">Color</legend>
    <div className="colors-list">
      {COLORS.map((color) => (
        <label key={color} className="color" title={color}>
          <input
            type="radio"
            className="visually-hidden"
            checked={color === value}
            onChange={() => onChoose(color)}
          />
          <span className="label-badge" data-color={color}>
            <span className="visually-hidden">{color}</span>
          </span>
        </label>
      ))}
    </div>
  </fieldset>
);
