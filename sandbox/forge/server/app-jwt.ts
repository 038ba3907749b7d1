import { createPublicKey, verify } from "node:crypto";
import type { AppRow } from "../rows.ts";
import { ApiError } from "./api-error.ts";
import { isFields, type Fields } from "./body-fields.ts";

const MAX_LIFETIME_SECONDS = 600;
const CLOCK_SKEW_SECONDS = 60;

export const looksLikeJwt = (token: string): boolean => /^ey[\w-]+\.ey[\w-]+\.[\w-]+$/.test(token);

/** Verifies an App's JWT (RS256, `iat`, `exp`, `iss`); throws GitHub's 401 if it is invalid. */
export function verifyAppJwt(token: string, app: AppRow, nowSeconds: number): void {
  const [head = "", body = "", signature = ""] = token.split(".");
  const header = decode(head);
  const claims = decode(body);
  if (header === null || claims === null || header["alg"] !== "RS256") throw undecodable();
  const { iss, iat, exp } = claims;
  if (String(iss) !== String(app.id) && iss !== app.clientId)
    throw new ApiError(401, "Integration not found");
  if (typeof iat !== "number" || iat > nowSeconds + CLOCK_SKEW_SECONDS)
    throw claimError(
      "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
    );
  if (typeof exp !== "number" || exp <= nowSeconds)
    throw claimError(
      "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
    );
  if (exp > nowSeconds + MAX_LIFETIME_SECONDS + CLOCK_SKEW_SECONDS)
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
