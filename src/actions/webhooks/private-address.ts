import { BlockList, isIP } from "node:net";

/** Addresses that no packet from the Internet reaches (https://www.iana.org/assignments/iana-ipv4-special-registry). */
const PRIVATE = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
] as const)
  PRIVATE.addSubnet(network, prefix, "ipv4");
PRIVATE.addSubnet("::", 127, "ipv6");
PRIVATE.addSubnet("fc00::", 7, "ipv6");
PRIVATE.addSubnet("fe80::", 10, "ipv6");

/** Names that public DNS never resolves, and names without a dot. */
const LOCAL_NAME = /^[^.]+$|\.(localhost|local|internal|test|invalid|home\.arpa)$/;

/** Whether the host of a URL, by its name or address, is this machine or in a private network. */
export function isPrivateUrl(url: string): boolean {
  const host = new URL(url).hostname.replace(/^\[|\]$|\.$/g, "").toLowerCase();
  const version = isIP(host);
  return version === 0 ? LOCAL_NAME.test(host) : PRIVATE.check(host, version === 4 ? "ipv4" : "ipv6");
}
