/** A document that PostgreSQL has rendered as JSON. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** For a document that contains it. */
  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

/** The JSON of a response. */
export const jsonOf = (body: unknown): string =>
  body instanceof JsonText ? body.text : JSON.stringify(body);
