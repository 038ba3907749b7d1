import { Badge } from "../components/badge.tsx";
import { ErrorState, Loading } from "../components/states.tsx";
import { Ago } from "../text/time.tsx";
import { useOperations, type Installation } from "./operations-api.ts";
import { WideTable } from "./wide-table.tsx";

/** How often the installations are read again, in milliseconds. */
const REREAD_MS = 15_000;

/** The accounts on GitHub that have installed the App, with their budgets of calls. */
export function Installations() {
  const { data, error, refetch } = useOperations("installations", REREAD_MS);
  return (
    <section className="operations-part" aria-labelledby="installations">
      <h2 id="installations">Installations</h2>
      {!data &&
        (error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <Loading what="them" />)}
      {data?.length === 0 && (
        <p className="operations-about">
          No account has installed the App yet. Its owner does that on the App's page on GitHub.
        </p>
      )}
      {data && data.length > 0 && (
        <WideTable
          label="Installations"
          columns={["Account", "State", "Boards", "Repositories", "Calls to GitHub"]}
        >
          {data.map((installation) => (
            <tr key={installation.login}>
              <th scope="row">
                <bdi>{installation.login}</bdi>
              </th>
              <td>
                <State installation={installation} />
              </td>
              <td>{installation.boards}</td>
              <td>{installation.repositories}</td>
              <td>
                <Budget installation={installation} />
              </td>
            </tr>
          ))}
        </WideTable>
      )}
    </section>
  );
}

const UNAVAILABLE = {
  rate_limit: "GitHub limited calls recently.",
  unusable_response: "GitHub sent an unusable response recently.",
  outage: "GitHub did not respond recently.",
} as const;

function State({ installation }: { readonly installation: Installation }) {
  const { state, since, refused, missingPermissions, unavailable } = installation;
  return (
    <>
      <Badge tone={state === "active" ? "success" : "danger"}>{state}</Badge>{" "}
      {since !== null && state !== "active" && (
        <>
          since <Ago at={since} />
        </>
      )}
      {refused !== null && <p dir="auto">{refused}</p>}
      {missingPermissions.length > 0 && <p>Missing permissions: {missingPermissions.join(", ")}</p>}
      {unavailable !== null && <p>{UNAVAILABLE[unavailable]}</p>}
    </>
  );
}

function Budget({ installation }: { readonly installation: Installation }) {
  const { limitedUntil, contentLeft, contentBurst } = installation;
  return (
    <>
      {limitedUntil !== null && (
        <>
          <Badge tone="warning">limited</Badge> until <Ago at={limitedUntil} />,{" "}
        </>
      )}
      {contentLeft === null ? "no write counted" : `${contentLeft} of ${contentBurst} writes of content free`}
    </>
  );
}
