/** One line of a 422: what is wrong with which field. */
export interface FieldError {
  readonly resource?: string;
  readonly field?: string;
  readonly code: "missing" | "missing_field" | "invalid" | "already_exists" | "unprocessable" | "custom";
  readonly message?: string;
  readonly value?: string | number | null;
}

/** Ends a call with one of GitHub's refusals, in GitHub's words. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly errors: readonly FieldError[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    message: string,
    more: { errors?: readonly FieldError[]; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message);
    this.status = status;
    this.errors = more.errors;
    this.headers = more.headers ?? {};
  }

  toAnswer(): Answer {
    const body = {
      message: this.message,
      ...(this.errors === undefined ? {} : { errors: this.errors }),
      documentation_url: "https://docs.github.com/rest",
      status: String(this.status),
    };
    return { status: this.status, headers: this.headers, body };
  }
}

/** Missing, or none of the caller's business. */
export const notFound = (): ApiError => new ApiError(404, "Not Found");

/** 422 with a sentence of its own. */
export const unprocessable = (message: string): ApiError => new ApiError(422, message);

/** 422 `Validation Failed`, with the fields that are wrong. */
export const invalidFields = (...errors: FieldError[]): ApiError =>
  new ApiError(422, "Validation Failed", { errors });

/** An answer before it is written. A `body` that is a string is sent as it is; null sends none. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}
