import { useEffect, useState } from "react";
import { Link } from "wouter";
import { useInbox } from "../api/reads.ts";
import type { InboxItem } from "../api/schema.d.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { Banner } from "../components/banner.tsx";
import { useAddress } from "./use-project.ts";

type Broken = Extract<InboxItem, { kind: "connection_broken" }>;

/** How long the feed may be away before the page shows it, in milliseconds. */
const PATIENCE_MS = 2_000;

/** Conditions of the whole board: no connection to the service, or a broken one to GitHub. */
export function Banners() {
  const addressOf = useAddress();
  const isAway = useIsAway();
  const { data: items = [] } = useInbox();
  const broken = items.filter((item): item is Broken => item.kind === "connection_broken");
  return (
    <>
      {isAway && (
        <Banner tone="warning" title="No connection to Trunkline.">
          The page shows the last known state and updates itself when the connection returns.
        </Banner>
      )}
      {broken.map((item) => (
        <Banner key={item.id} tone="danger" title={titleOf(item)}>
          {item.detail} <Link href={addressOf("/inbox")}>What to do</Link>
        </Banner>
      ))}
    </>
  );
}

const titleOf = ({ repository, data }: Broken): string => {
  const place = repository ?? "the GitHub account";
  return data.broken === "permissions"
    ? `A permission is missing for ${place}.`
    : `The connection to ${place} is broken.`;
};

function useIsAway(): boolean {
  const { feed } = useWorkspace();
  const [isLong, setIsLong] = useState(false);
  useEffect(() => {
    if (feed === "live") {
      setIsLong(false);
      return;
    }
    const timer = setTimeout(() => setIsLong(true), navigator.onLine ? PATIENCE_MS : 0);
    return () => clearTimeout(timer);
  }, [feed]);
  return isLong && feed !== "live";
}
