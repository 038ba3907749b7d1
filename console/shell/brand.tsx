import "./brand.css";

/** The product's mark: a line and the branch that returns to it. */
export const Brand = ({ isShort = false }: { readonly isShort?: boolean }) => (
  <span className="brand">
    <svg className="brand-mark" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d="M4.5 1.5v13M4.5 11.5c4.4 0 6.5-1.8 6.5-5.4" />
      <circle cx="11" cy="4.2" r="1.9" />
    </svg>
    <span className={isShort ? "visually-hidden" : "brand-name"}>Trunkline</span>
  </span>
);
