/** One of the `errors` of a 422 response. */
export interface FieldError {
  readonly resource?: string;
  readonly field?: string;
  readonly code: "missing" | "missing_field" | "invalid" | "already_exists" | "unprocessable" | "custom";
  readonly message?: string;
}

/** Ends a call with one of GitHub's error responses. */
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

  toResponse(): ForgeResponse {
    const body = {
      message: this.message,
      ...(this.errors === undefined ? {} : { errors: this.errors }),
      documentation_url: "https://docs.github.com/rest",
      status: String(this.status),
    };
    return { status: this.status, headers: this.headers, body };
  }
}

/** The resource is missing or the caller may not read it. */
export const notFound = (): ApiError => new ApiError(404, "Not Found");

/** 422 with a message. */
export const unprocessable = (message: string): ApiError => new ApiError(422, message);

/** 422 `Validation Failed` with field errors. */
export const invalidFields = (...errors: FieldError[]): ApiError =>
  new ApiError(422, "Validation Failed", { errors });

/** The response to a call. A string `body` is sent unchanged; null sends no body. */
export interface ForgeResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}
