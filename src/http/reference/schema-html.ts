import { formsOf, nameOf, type Schema } from "./document.ts";
import { html, joined, prose, type Content, type Html } from "./html.ts";

export const schemaLink = (name: string): Html => html`<a href="#schema-${name}">${name}</a>`;

/** The type of a schema: `string (uuid) or null`, `array of Card`. */
export function typeOf(schema: Schema): Html {
  if (schema.$ref !== undefined) return schemaLink(nameOf(schema.$ref));
  const forms = schema.anyOf ?? schema.oneOf;
  if (forms) return joined(forms.map(typeOf), " or ");
  if ("const" in schema) return html`<code>${JSON.stringify(schema.const)}</code>`;
  if (schema.type === "array") return html`array of ${schema.items ? typeOf(schema.items) : "anything"}`;
  const types = [schema.type ?? "anything"].flat();
  return html`${types.join(" or ")}${schema.format !== undefined && ` (${schema.format})`}`;
}

function range(min: number | undefined, max: number | undefined, unit = ""): string | null {
  const hasMin = min !== undefined && min > -Number.MAX_SAFE_INTEGER;
  const hasMax = max !== undefined && max < Number.MAX_SAFE_INTEGER;
  const [from, to] = [min, max].map((value) => value?.toLocaleString("en"));
  if (hasMin && hasMax) return `${from} to ${to}${unit}`;
  if (hasMax) return `at most ${to}${unit}`;
  return hasMin ? `at least ${from}${unit}` : null;
}

/** The constraints of a value besides its type: lengths, ranges, allowed values. */
const limitsOf = (schema: Schema): Content[] =>
  formsOf(schema)
    .flatMap((form) => [
      range(form.minLength, form.maxLength, " characters"),
      range(form.minimum, form.maximum),
      range(form.minItems, form.maxItems, " items"),
      form.enum &&
        html`one of
        ${joined(
          form.enum.map((value) => html`<code>${String(value)}</code>`),
          ", ",
        )}`,
      form.pattern !== undefined && !form.format && html`matches <code>${form.pattern}</code>`,
      ...(form.items ? limitsOf(form.items) : []),
    ])
    .filter((limit) => limit);

interface Row {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
  readonly description?: string | undefined;
}

/** The fields of an object, each followed by its nested fields: `reasons[].message`. */
function rowsOf(schema: Schema, prefix = ""): Row[] {
  return formsOf(schema).flatMap((form) => {
    if (form.items) return rowsOf(form.items, prefix === "" ? "[]." : prefix.replace(/\.$/, "[]."));
    return Object.entries(form.properties ?? {}).flatMap(([field, inner]): Row[] => {
      const name = prefix + field;
      const isRequired = form.required?.includes(field) ?? false;
      return [{ name, schema: inner, isRequired }, ...rowsOf(inner, `${name}.`)];
    });
  });
}

/** Marks required fields of requests and optional fields of responses. */
export type Direction = "sent" | "received";

/** A table of fields, parameters or headers. */
export const fieldTable = (rows: readonly Row[], direction: Direction): Html =>
  html`<div class="table">
    <table>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Type</th>
          <th scope="col">Meaning</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map(({ name, schema, isRequired, description = schema.description }) => {
          const limits = limitsOf(schema);
          const marked = direction === "sent" ? isRequired && "required" : !isRequired && "optional";
          return html`<tr>
            <th scope="row"><code>${name}</code>${marked && html` <small>${marked}</small>`}</th>
            <td>
              ${typeOf(schema)}${limits.length > 0 && html`<br /><small>${joined(limits, "; ")}</small>`}
            </td>
            <td>${description !== undefined && prose(description)}</td>
          </tr> `;
        })}
      </tbody>
    </table>
  </div> `;

/**
 * The type and fields of a schema. For a union: the fields that all forms share, then those of each
 * form.
 */
export function schemaHtml(schema: Schema, direction: Direction): Html {
  const forms = formsOf(schema);
  const [first] = forms;
  if (first && forms.length > 1 && forms.every((form) => form.properties)) {
    const isShared = (field: string) => forms.every((form) => textOf(form, field) === textOf(first, field));
    return html`${fieldTable(rowsOf(withFields(first, isShared)), direction)}
      <p>and one of</p>
      ${forms.map((form) => fieldTable(rowsOf(withFields(form, (field) => !isShared(field))), direction))}`;
  }
  const rows = rowsOf(schema);
  return html`${!schema.properties && html`<p>${typeOf(schema)}</p> `}${rows.length > 0 && fieldTable(rows, direction)}`;
}

const textOf = (form: Schema, field: string): string => JSON.stringify(form.properties?.[field] ?? null);

const withFields = (schema: Schema, isWanted: (field: string) => boolean): Schema => ({
  ...schema,
  properties: Object.fromEntries(
    Object.entries(schema.properties ?? {}).filter(([field]) => isWanted(field)),
  ),
});
