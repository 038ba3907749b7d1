import { createContext, useCallback, useContext, useState, type ReactNode } from "react";

type Announce = (sentence: string) => void;

const AnnouncerContext = createContext<Announce>(() => undefined);

/** Says a sentence through the page's live region, for example that a move was refused. */
export const useAnnounce = (): Announce => useContext(AnnouncerContext);

/** The live region. It must be on the page before its first text. */
export function AnnouncerProvider({ children }: { readonly children: ReactNode }) {
  const [said, setSaid] = useState({ sentence: "", count: 0 });
  const announce = useCallback<Announce>(
    (sentence) => setSaid(({ count }) => ({ sentence, count: count + 1 })),
    [],
  );
  return (
    <AnnouncerContext value={announce}>
      {children}
      <div className="visually-hidden" role="status" aria-live="assertive" data-testid="announcer">
        {/* A new element each time, so that the same sentence is announced again. */}
        <p key={said.count}>{said.sentence}</p>
      </div>
    </AnnouncerContext>
  );
}
