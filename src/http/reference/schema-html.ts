import { formsOf, nameOf, type Schema } from "./document.ts";
import { html, joined, prose, type Content, type Html } from "./html.ts";

export const schemaLink = (name: string): Html => html`<a href="#schema-${name}">${name}</a>`;

/** A schema's type in a few words: `string (uuid) or null`, `array of Card`. */
export function typeOf(schema: Schema): Html {
  if (schema.$ref !== undefined) return schemaLink(nameOf(schema.$ref));
  const forms = schema.anyOf ?? schema.oneOf;
  if (forms) return joined(forms.map(typeOf), " or ");
  if ("const" in schema) return html`<code>${JSON.stringify(schema.const)}</code>`;
  if (schema.type === "array") return html`array of ${schema.items ? typeOf(schema.items) : "anything"}`;
  if (schema.type === "object" && !schema.properties && typeof schema.additionalProperties === "object")
    return html`object with any fields`;
  const types = [schema.type ?? "anything"].flat();
  return html`${types.join(" or ")}${schema.format !== undefined && ` (${schema.format})`}`;
}

function range(least: number | undefined, most: number | undefined, what = ""): string | null {
  const hasLeast = least !== undefined && least > -Number.MAX_SAFE_INTEGER;
  const hasMost = most !== undefined && most < Number.MAX_SAFE_INTEGER;
  const [from, to] = [least, most].map((value) => value?.toLocaleString("en"));
  if (hasLeast && hasMost) return `${from} to ${to}${what}`;
  if (hasMost) return `at most ${to}${what}`;
  return hasLeast ? `at least ${from}${what}` : null;
}

/** What holds for a value besides its type: lengths, ranges, the values it may have. */
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

/** The fields of an object, those of objects inside it after it: `reasons[].message`. */
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

/** What a caller sends must have its required fields; what is answered has all but the optional ones. */
export type Direction = "sent" | "answered";

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

/** Everything about a schema: its type where it is no plain object, and its fields. Each form of several gets a table. */
export function schemaHtml(schema: Schema, direction: Direction): Html {
  const forms = formsOf(schema);
  if (forms.length > 1 && forms.every((form) => form.properties)) {
    return html`${forms.map((form, at) => [at > 0 && html`<p>or</p>`, schemaHtml(form, direction)])}`;
  }
  const rows = rowsOf(schema);
  return html`${!schema.properties && html`<p>${typeOf(schema)}</p> `}${rows.length > 0 && fieldTable(rows, direction)}`;
}
