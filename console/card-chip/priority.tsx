import type { BoardTask } from "../api/schema.d.ts";
import "./priority.css";

const BARS = { none: 0, low: 1, medium: 2, high: 3, urgent: 3 } as const;

/** The priority as bars; nothing for `none`. */
export const Priority = ({ priority }: Pick<BoardTask, "priority">) =>
  priority === "none" ? null : (
    <svg
      className="priority"
      data-priority={priority}
      viewBox="0 0 12 12"
      role="img"
      aria-label={`${priority} priority`}
    >
      {[0, 1, 2].map((bar) => (
        <rect
          key={bar}
          x={bar * 4 + 0.5}
          y={8 - bar * 3}
          width="3"
          height={4 + bar * 3}
          rx="0.75"
          data-on={bar < BARS[priority] || undefined}
        />
      ))}
    </svg>
  );
