import type { AccountRow, AppRow, InstallationRow, Permissions, TokenRow } from "../rows.ts";

/** Who asks. */
export type Caller =
  | { readonly kind: "anonymous" }
  | { readonly kind: "person"; readonly account: AccountRow; readonly token: TokenRow }
  | {
      readonly kind: "installation";
      /** The App's bot, which is the author of what is done. */
      readonly account: AccountRow;
      readonly installation: InstallationRow;
      readonly token: TokenRow;
      readonly permissions: Permissions;
    }
  /** The App itself, with a JWT. */
  | { readonly kind: "app"; readonly app: AppRow };
