import { Suspense, useEffect, useRef } from "react";
import { Link } from "wouter";
import { Loading } from "../components/states.tsx";
import { NotFound } from "../shell/not-found.tsx";
import { useAddress, useBoardTitle } from "../shell/use-project.ts";
import { GROUPS, SECTIONS, type Section } from "./sections.ts";
import "./settings.css";

/** The settings of the board and of the project that is chosen in the top bar. */
export default function SettingsScreen({ section }: { readonly section: string | null }) {
  const shown = section === null ? SECTIONS[0] : SECTIONS.find(({ path }) => path === section);
  useBoardTitle(shown?.title ?? "Settings", shown?.group === "This project");
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
  const addressOf = useAddress();
  const active = useRef<HTMLAnchorElement>(null);
  // On a phone the sections are a row that scrolls. Newer browsers return a promise.
  useEffect(() => {
    active.current?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [current]);
  return (
    <nav className="settings-nav" aria-label="Settings">
      {GROUPS.map((group) => (
        <div key={group}>
          <h2 className="settings-group">{group}</h2>
          <ul>
            {SECTIONS.filter((each) => each.group === group).map(({ title, path }) => (
              <li key={path}>
                <Link
                  ref={path === current.path ? active : undefined}
                  href={addressOf(`/settings/${path}`)}
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
