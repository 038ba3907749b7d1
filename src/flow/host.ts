/** The host of a URL: a name without a final dot, or an IP address without brackets. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$|\.$/g, "").toLowerCase();
