import { createPublicKey, verify } from "node:crypto";
import type { AppRow } from "../rows.ts";
import { ApiError } from "./api-error.ts";
import { isFields, type Fields } from "./body-fields.ts";

/** The longest an App's JWT may be valid, in seconds. */
const MAX_LIFETIME = 600;
/** How far a clock may be ahead. */
const CLOCK_SKEW = 60;

export const looksLikeJwt = (token: string): boolean => /^ey[\w-]+\.ey[\w-]+\.[\w-]+$/.test(token);

/** Checks a JWT an App signed (RS256, `iat`, `exp`, `iss`); throws GitHub's 401 for what is wrong with it. */
export function verifyAppJwt(token: string, app: AppRow, nowSeconds: number): void {
  const [head = "", body = "", signature = ""] = token.split(".");
  const header = decode(head);
  const claims = decode(body);
  if (header === null || claims === null || header["alg"] !== "RS256") throw undecodable();
  const { iss, iat, exp } = claims;
  if (String(iss) !== String(app.id) && iss !== app.clientId)
    throw new ApiError(401, "Integration not found");
  if (typeof iat !== "number" || iat > nowSeconds + CLOCK_SKEW)
    throw claimError(
      "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
    );
  if (typeof exp !== "number")
    throw claimError(
      "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
    );
  if (exp <= nowSeconds)
    throw claimError(
      "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
    );
  if (exp > nowSeconds + MAX_LIFETIME + CLOCK_SKEW)
    throw claimError("'Expiration time' claim ('exp') is too far in the future");
  const isSigned = verify(
    "RSA-SHA256",
    Buffer.from(`${head}.${body}`),
    createPublicKey(app.privateKey),
    Buffer.from(signature, "base64url"),
  );
  if (!isSigned) throw undecodable();
}

const undecodable = () => new ApiError(401, "A JSON web token could not be decoded");
const claimError = (message: string) => new ApiError(401, message);

function decode(part: string): Fields | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
    return isFields(value) ? value : null;
  } catch {
    return null;
  }
}
