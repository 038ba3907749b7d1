/** The drawings, on a grid of 16. They inherit the color of the text. */
const PATHS = {
  alert: "M8 2.2 14.3 13.3H1.7ZM8 6.4v3.2M8 11.4v.1",
  board: "M2.5 3h3v10h-3zM6.5 3h3v6.5h-3zM10.5 3h3v8h-3z",
  backlog: "M2.5 4h11M2.5 8h11M2.5 12h7",
  branch: "M5 2.5v11M5 10.5c3.6 0 5.6-1.5 5.6-4.6M10.6 5.9a1.6 1.6 0 1 0 0-3.2 1.6 1.6 0 0 0 0 3.2Z",
  check: "m3 8.4 3.2 3.1L13 4.6",
  clock: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 4.8V8l2.2 1.4",
  comment: "M2.5 3h11v7.5H7.6L4.8 13v-2.5H2.5Z",
  commit: "M1.5 8h4M10.5 8h4M8 10.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Z",
  edit: "m3 10.6 7.3-7.3 2.4 2.4L5.4 13H3Z",
  external: "M6.5 3.5h-3v9h9v-3M9 3h4v4M13 3 7.5 8.5",
  eye: "M1.8 8C3.4 5.2 5.5 3.8 8 3.8S12.6 5.2 14.2 8C12.6 10.8 10.5 12.2 8 12.2S3.4 10.8 1.8 8ZM8 9.8a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6Z",
  move: "M2.5 8h10.5M9.5 4.5 13 8l-3.5 3.5",
  page: "M4 2.5h5.5L12.5 5.5v8H4ZM9.2 2.7v3h3M6 8.5h4.5M6 11h4.5",
  pull: "M4.5 6v7M4.5 6a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4ZM11.5 10V6.2c0-1-.7-1.7-1.7-1.7H8M9.6 2.9 8 4.5l1.6 1.6M11.5 13.4a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4Z",
  refresh: "M13 8a5 5 0 1 1-1.5-3.6M13 2.5v2.6h-2.6",
  settings:
    "M2.5 4.5h6M12 4.5h1.5M10.2 6.1a1.6 1.6 0 1 0 0-3.2 1.6 1.6 0 0 0 0 3.2ZM2.5 11.5H4M7.5 11.5h6M5.8 13.1a1.6 1.6 0 1 0 0-3.2 1.6 1.6 0 0 0 0 3.2Z",
  tag: "M2.5 2.5h5l6 6-5 5-6-6ZM5.2 5.2h.1",
  chevron: "m4.5 6.2 3.5 3.5 3.5-3.5",
  collapse: "M1.5 8h5M4.2 5.5 6.7 8l-2.5 2.5M14.5 8h-5M11.8 5.5 9.3 8l2.5 2.5",
  expand: "M6.5 8h-5M4 5.5 1.5 8 4 10.5M9.5 8h5M12 5.5 14.5 8 12 10.5",
  up: "M8 13V3M4.5 6.5 8 3l3.5 3.5",
  down: "M8 3v10M4.5 9.5 8 13l3.5-3.5",
  close: "m4 4 8 8M12 4l-8 8",
  inbox: "M2.5 9.5 4.3 3h7.4l1.8 6.5v3.5h-11ZM2.5 9.5h3.2a2.4 2.4 0 0 0 4.6 0h3.2",
  merge: "M4.5 2.5v11M4.5 5c0 3.4 2.2 5 6 5M11.9 10a1.4 1.4 0 1 0-2.8 0 1.4 1.4 0 0 0 2.8 0Z",
  moon: "M13 9.6A5.6 5.6 0 0 1 6.4 3 5.6 5.6 0 1 0 13 9.6Z",
  more: "M3.5 8h.1M8 8h.1M12.5 8h.1",
  plus: "M8 3v10M3 8h10",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM10.4 10.4l3.1 3.1",
} as const;

export type IconName = keyof typeof PATHS;

/** A drawing next to a text. Assistive technology skips it. */
export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg className="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    <path d={PATHS[name]} />
  </svg>
);
