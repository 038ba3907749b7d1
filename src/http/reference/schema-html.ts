import { formsOf, nameOf, type Schema } from "./document.ts";
import { html, joined, prose, type Html } from "./html.ts";

export const schemaLink = (name: string): Html => html`<a href="#schema-${name}">${name}</a>`;

/** A schema's type in a few words: `string (uuid) or null`, `array of Card`. */
export function typeOf(schema: Schema): Html {
  if (schema.$ref !== undefined) return schemaLink(nameOf(schema.$ref));
  const forms = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (forms) return joined(forms.map(typeOf), schema.allOf ? " and " : " or ");
  if ("const" in schema) return html`<code>${JSON.stringify(schema.const)}</code>`;
  if (schema.type === "array") return html`array of ${schema.items ? typeOf(schema.items) : "anything"}`;
  if (isOpen(schema)) return html`object with any fields`;
  const types = [schema.type ?? "anything"].flat();
  return html`${types.join(" or ")}${schema.format !== undefined && ` (${schema.format})`}`;
}

const isOpen = ({ type, properties, additionalProperties }: Schema): boolean =>
  type === "object" && !properties && typeof additionalProperties === "object";

const count = (value: number): string => value.toLocaleString("en");

function range(least: number | undefined, most: number | undefined, what: string): string | null {
  const hasLeast = least !== undefined && least > -Number.MAX_SAFE_INTEGER;
  const hasMost = most !== undefined && most < Number.MAX_SAFE_INTEGER;
  if (hasLeast && hasMost) return `${count(least)} to ${count(most)}${what}`;
  if (hasMost) return `at most ${count(most)}${what}`;
  return hasLeast ? `at least ${count(least)}${what}` : null;
}

/** What holds for a value besides its type: lengths, ranges, the values it may have. */
function limitsOf(schema: Schema): Html | null {
  const limits = formsOf(schema).flatMap((form): Html[] => {
    const ranges = [
      range(form.minLength, form.maxLength, " characters"),
      range(form.minimum, form.maximum, ""),
      range(form.minItems, form.maxItems, " items"),
    ];
    return [
      ...ranges.flatMap((text) => (text === null ? [] : [html`${text}`])),
      ...(form.enum
        ? [
            html`one of
            ${joined(
              form.enum.map((value) => html`<code>${String(value)}</code>`),
              ", ",
            )}`,
          ]
        : []),
      ...(form.pattern !== undefined && form.format === undefined
        ? [html`matches <code>${form.pattern}</code>`]
        : []),
      ...(form.items ? [limitsOf(form.items) ?? html``] : []),
    ].filter(({ markup }) => markup !== "");
  });
  return limits.length === 0 ? null : joined(limits, "; ");
}

interface Row {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
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

/** One line of a table of fields, parameters or headers. */
export const fieldRow = (
  { name, schema, isRequired }: Row,
  direction: Direction,
  description = schema.description,
): Html => {
  const limits = limitsOf(schema);
  const marked = direction === "sent" ? isRequired && "required" : !isRequired && "optional";
  return html`<tr>
    <th scope="row"><code>${name}</code>${marked && html` <small>${marked}</small>`}</th>
    <td>${typeOf(schema)}${limits && html`<br /><small>${limits}</small>`}</td>
    <td>${description !== undefined && prose(description)}</td>
  </tr> `;
};

export const fieldTable = (rows: readonly Html[]): Html =>
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
        ${rows}
      </tbody>
    </table>
  </div> `;

/** All that there is to say of a schema: its type where it is no plain object, and its fields. Each form of several gets a table. */
export function schemaHtml(schema: Schema, direction: Direction): Html {
  const forms = formsOf(schema);
  if (forms.length > 1 && forms.every((form) => form.properties)) {
    return html`${forms.map((form, at) => [at > 0 && html`<p>or</p>`, schemaHtml(form, direction)])}`;
  }
  const rows = rowsOf(schema);
  return html`${!schema.properties && html`<p>${typeOf(schema)}</p> `}${rows.length > 0 && fieldTable(rows.map((row) => fieldRow(row, direction)))}`;
}
