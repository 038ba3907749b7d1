/**
 * A GitHub Enterprise Server may lack fields that GitHub.com has. It refuses the whole query and
 * names them, with paths such as `["fragment Pull", "isInMergeQueue"]`.
 */
import { Kind, parse, print, visit, type ASTNode } from "graphql";
import { z } from "zod";

const bodyShape = z.looseObject({
  errors: z.array(
    z.looseObject({
      path: z.array(z.union([z.string(), z.number()])).catch([]),
      extensions: z.looseObject({ code: z.string() }).nullish().catch(null),
    }),
  ),
});

/** The document without the fields that the server does not know; null if it named none. */
export function withoutUnknownFields(document: string, body: unknown): string | null {
  const { data } = bodyShape.safeParse(body);
  const unknown = (data?.errors ?? []).filter(({ extensions }) => extensions?.code === "undefinedField");
  const paths = new Set(unknown.map(({ path }) => path.join("/")));
  if (paths.size === 0) return null;
  const reduced = print(
    visit(parse(document), {
      Field: {
        enter(node, _key, _parent, _path, ancestors) {
          // Lists of nodes are ancestors, too.
          const nodes = ancestors.filter((each): each is ASTNode => "kind" in each);
          const names = [...nodes, node].flatMap(nameIn);
          return paths.has(names.join("/")) ? null : undefined;
        },
      },
    }),
  );
  return reduced;
}

/** The part of a path that a node is. */
function nameIn(node: ASTNode): string[] {
  switch (node.kind) {
    case Kind.OPERATION_DEFINITION:
      return [[node.operation, node.name?.value].filter(Boolean).join(" ")];
    case Kind.FRAGMENT_DEFINITION:
      return [`fragment ${node.name.value}`];
    case Kind.INLINE_FRAGMENT:
      return [node.typeCondition ? `... on ${node.typeCondition.name.value}` : "..."];
    case Kind.FIELD:
      return [node.alias?.value ?? node.name.value];
    default:
      return [];
  }
}
