import { Suspense, useEffect, useRef } from "react";
import { Link } from "wouter";
import { useWorkspace } from "../api/workspace.tsx";
import { Loading } from "../components/states.tsx";
import { NotFound } from "../shell/not-found.tsx";
import { useTitle } from "../shell/use-title.ts";
import { SECTIONS, type Section } from "./sections.ts";
import "./settings.css";

/** The settings of the board and of the project that is chosen in the top bar. */
export default function SettingsScreen({ section }: { readonly section: string | null }) {
  const { board } = useWorkspace();
  const shown = section === null ? SECTIONS[0] : SECTIONS.find(({ path }) => path === section);
  useTitle(shown?.title ?? "Settings", board.name);
  if (!shown) return <NotFound what="page" />;
  const { Screen } = shown;
  return (
    <div className="settings">
      <SectionList current={shown} />
      <div className="settings-section">
        <Suspense fallback={<Loading what={shown.title.toLowerCase()} />}>
          <Screen />
        </Suspense>
      </div>
    </div>
  );
}

/** The sections by what they belong to. The address keeps the project. */
function SectionList({ current }: { readonly current: Section }) {
  const { base } = useWorkspace();
  const { search } = window.location;
  const active = useRef<HTMLAnchorElement>(null);
  // On a phone the sections are a row that scrolls. Newer browsers return a promise.
  useEffect(() => {
    active.current?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [current]);
  return (
    <nav className="settings-nav" aria-label="Settings">
      {(["Project", "Board"] as const).map((group) => (
        <div key={group}>
          <h2 className="settings-group">{group}</h2>
          <ul>
            {SECTIONS.filter((each) => each.group === group).map(({ title, path }) => (
              <li key={path}>
                <Link
                  ref={path === current.path ? active : undefined}
                  href={`${base}/settings/${path}${search}`}
                  className="settings-link"
                  aria-current={path === current.path ? "page" : undefined}
                >
                  {title}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}
