import { createPrivateKey } from "node:crypto";

/** Whether a PEM is an App's private key. Both kinds, PKCS#1 as downloaded and PKCS#8 as converted, are read. */
export function isAppKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === "rsa";
  } catch {
    return false;
  }
}
