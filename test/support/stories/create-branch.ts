import type { TestForge } from "../forge/sandbox-forge.ts";

/** Creates a ref; the operation is called `Cut`. */
export const CREATE_REF = /* GraphQL */ `
  mutation Cut($id: ID!, $name: String!, $oid: GitObjectID!) {
    createRef(input: { repositoryId: $id, name: $name, oid: $oid }) {
      ref {
        name
      }
    }
  }
`;

const MAIN = /* GraphQL */ `
  query Main {
    repository(owner: "acme", name: "web") {
      id
      defaultBranchRef {
        target {
          oid
        }
      }
    }
  }
`;

const HAS_REF = /* GraphQL */ `
  query HasRef($name: String!) {
    repository(owner: "acme", name: "web") {
      ref(qualifiedName: $name) {
        id
      }
    }
  }
`;

let last = 0;

/** The id of acme/web and the head of its main branch. */
export async function mainOf(world: TestForge): Promise<{ readonly id: string; readonly oid: string }> {
  const response = await world.graphql(MAIN);
  return {
    id: response.at("data.repository.id"),
    oid: response.at("data.repository.defaultBranchRef.target.oid"),
  };
}

/** Creates a branch of acme/web at main with GraphQL; returns its ref name, also after an error. */
export async function createBranch(world: TestForge): Promise<string> {
  const name = `refs/heads/card/${++last}`;
  await world.graphql(CREATE_REF, { ...(await mainOf(world)), name });
  return name;
}

export async function hasRef(world: TestForge, name: string): Promise<boolean> {
  const response = await world.graphql(HAS_REF, { name });
  return !response.text.includes('"ref":null');
}
