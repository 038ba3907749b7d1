/**
 * Fields that a query does without. A GitHub Enterprise Server may lack fields that GitHub.com has: it
 * refuses the whole query and names them. An account may lack the permission for a field that is
 * never null: GitHub then returns null in place of the whole pull request.
 */
import { type ASTNode, type DocumentNode, Kind, parse, print, visit } from "graphql";
import { LRUCache } from "lru-cache";
import { z } from "zod";

/**
 * The only fields that a server may lack, because it has no such feature then. Every other field
 * may change a decision, such as whether to merge. No other type has a field of the same name.
 */
export const OPTIONAL_FIELDS: readonly string[] = ["PullRequest.isInMergeQueue"];

const bodyShape = z.looseObject({
  errors: z.array(
    z.looseObject({
      type: z.string().nullish().catch(null),
      path: z.array(z.union([z.string(), z.number()])).catch([]),
      extensions: z
        .looseObject({ code: z.string(), typeName: z.string().nullish(), fieldName: z.string().nullish() })
        .nullish()
        .catch(null),
    }),
  ),
});

/** The fields that the server does not know, such as `PullRequest.isInMergeQueue`. */
export function unknownFields(body: unknown): string[] {
  const { data } = bodyShape.safeParse(body);
  const names = (data?.errors ?? []).flatMap(({ path, extensions }) => {
    if (extensions?.code !== "undefinedField") return [];
    const { typeName, fieldName } = extensions;
    return typeName && fieldName ? `${typeName}.${fieldName}` : path.join(".");
  });
  return [...new Set(names)];
}

/** The optional fields that GitHub forbids for lack of a permission. */
export function forbiddenOptionalFields(body: unknown): string[] {
  const { data } = bodyShape.safeParse(body);
  const forbidden = (data?.errors ?? []).flatMap(({ type, path }) =>
    type === "FORBIDDEN" ? path.at(-1) : [],
  );
  return OPTIONAL_FIELDS.filter((field) => forbidden.includes(field.split(".")[1]));
}

/** The document without the fields; null if it needs one of them, or has none of them. */
export function withoutOptionalFields(document: string, fields: readonly string[]): string | null {
  if (!fields.every((field) => OPTIONAL_FIELDS.includes(field))) return null;
  const names = new Set(fields.map((field) => field.split(".")[1]));
  const whole = parse(document);
  const reduced = without(whole, (node) => node.kind === Kind.FIELD && names.has(node.name.value));
  return reduced === whole ? null : print(withoutUnused(reduced));
}

/** Without these nodes, and without those that have no selection any more. */
const without = (document: DocumentNode, isRemoved: (node: ASTNode) => boolean): DocumentNode =>
  visit(document, {
    enter: (node) => (isRemoved(node) ? null : undefined),
    leave: (node) =>
      "selectionSet" in node && node.selectionSet?.selections.length === 0 ? null : undefined,
  });

/** GitHub refuses a document with an unused fragment or variable, or with an unknown fragment. */
function withoutUnused(document: DocumentNode): DocumentNode {
  const defined = new Set<string>();
  const used = new Set<string>();
  visit(document, {
    FragmentDefinition: ({ name }) => void defined.add(name.value),
    FragmentSpread: ({ name }) => void used.add(name.value),
    Variable: ({ name }) => void used.add(`$${name.value}`),
    // Contains its variable.
    VariableDefinition: () => false,
  });
  const reduced = without(document, (node) => {
    if (node.kind === Kind.FRAGMENT_SPREAD) return !defined.has(node.name.value);
    if (node.kind === Kind.FRAGMENT_DEFINITION) return !used.has(node.name.value);
    return node.kind === Kind.VARIABLE_DEFINITION && !used.has(`$${node.variable.name.value}`);
  });
  return reduced === document ? document : withoutUnused(reduced);
}

/** The server may be upgraded. */
const REMEMBERED_MS = 3_600_000;
const MAX_REMEMBERED = 200;

/** Documents that a server refused an account, without the fields that either lacks. */
export interface ReducedDocuments {
  /** The document itself if nothing is known of it. */
  get(account: string, document: string): string;
  set(account: string, document: string, reduced: string): void;
  /** The account may have granted more. */
  forget(account: string): void;
}

const keyOf = (account: string, document: string): string => `${account} ${document}`;

/** Remembers them for an hour. */
export function createReducedDocuments(clock: { now(): number }): ReducedDocuments {
  const known = new LRUCache<string, { readonly reduced: string; readonly at: number }>({
    max: MAX_REMEMBERED,
  });
  return {
    get(account, document) {
      const found = known.get(keyOf(account, document));
      return found !== undefined && clock.now() - found.at < REMEMBERED_MS ? found.reduced : document;
    },
    set: (account, document, reduced) =>
      void known.set(keyOf(account, document), { reduced, at: clock.now() }),
    forget(account) {
      for (const key of known.keys()) if (key.startsWith(keyOf(account, ""))) known.delete(key);
    },
  };
}
