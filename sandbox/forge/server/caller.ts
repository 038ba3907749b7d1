import type { AccountRow, AppRow, InstallationRow, Permissions, TokenRow } from "../rows.ts";

export type Caller =
  | { readonly kind: "anonymous" }
  | { readonly kind: "person"; readonly account: AccountRow; readonly token: TokenRow }
  | {
      readonly kind: "installation";
      /** The App's bot, which is the author of all changes. */
      readonly account: AccountRow;
      readonly installation: InstallationRow;
      readonly token: TokenRow;
      readonly permissions: Permissions;
    }
  /** The App with a JWT. */
  | { readonly kind: "app"; readonly app: AppRow };
