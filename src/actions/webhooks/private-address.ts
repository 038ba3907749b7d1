import { BlockList, isIP } from "node:net";
import { hostOf } from "../../flow/names.ts";

/**
 * Ranges that are not for hosts on the Internet
 * (https://www.iana.org/assignments/iana-ipv4-special-registry and iana-ipv6-special-registry), and
 * those whose addresses contain an IPv4 address.
 */
const SPECIAL = new BlockList();
for (const range of [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
  // Protocol assignments, with Teredo.
  "2001::/23",
  "2001:db8::/32",
  // 6to4.
  "2002::/16",
  "3fff::/20",
]) {
  const [network = "", prefix = ""] = range.split("/");
  SPECIAL.addSubnet(network, Number(prefix), isIP(network) === 4 ? "ipv4" : "ipv6");
}

/**
 * All hosts of the IPv6 Internet. Outside are loopback, private, mapped (`::ffff:0:0/96`), compatible
 * (`::/96`) and translated addresses (`64:ff9b::/96`).
 */
const GLOBAL_IPV6 = new BlockList();
GLOBAL_IPV6.addSubnet("2000::", 3, "ipv6");

/** Whether an IP address belongs to a host on the Internet. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !SPECIAL.check(address, "ipv4");
  return GLOBAL_IPV6.check(address, "ipv6") && !SPECIAL.check(address, "ipv6");
}

const LOCAL_NAME = /^[^.]+$|\.(localhost|local|internal|test|invalid|home\.arpa)$/;

/** Whether public DNS never resolves the name, or it has no dot. */
export const isLocalName = (host: string): boolean => LOCAL_NAME.test(host);

/** Whether the host of a URL, by its name or address, is this machine or in a private network. */
export function isPrivateUrl(url: string): boolean {
  const host = hostOf(new URL(url));
  return isIP(host) === 0 ? isLocalName(host) : !isPublicAddress(host);
}
