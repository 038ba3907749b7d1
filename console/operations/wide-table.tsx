import type { ReactNode } from "react";

interface Props {
  /** What the table has, for assistive technology. */
  readonly label: string;
  readonly columns: readonly string[];
  readonly children: ReactNode;
}

/** A table that scrolls sideways on a narrow screen, also by keyboard. */
export const WideTable = ({ label, columns, children }: Props) => (
  <div className="operations-scroll" role="group" aria-label={label} tabIndex={0}>
    <table>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
);
