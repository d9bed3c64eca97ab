/**
 * Where deliveries may go. A sandbox is fed with URLs by whoever tries things, and must not knock at doors in their network:
 * loopback only, unless the options name hosts or say "anywhere". The address is checked when the connection is made, as
 * that is the one that counts: a name may lead elsewhere by then.
 */
import { BlockList, isIP } from "node:net";

export type DeliverTo = "loopback" | "anywhere" | "nowhere" | readonly string[];

/** Thrown for a target that the options do not allow. */
export class Blocked extends Error {}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

function isLoopback(address: string): boolean {
  // An IPv4 address in the clothes of an IPv6 one is checked by BlockList as what it is.
  return loopback.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

/** Whether the host itself was named in the options, so that its address does not matter. */
function isNamed(host: string, allowed: DeliverTo): boolean {
  if (typeof allowed === "string") return allowed === "anywhere";
  return allowed.some((one) => one.toLowerCase() === host.toLowerCase());
}

/** Refuses the URL of a delivery by its scheme, or by an address that is written out in it: there is nothing to look up. @throws Blocked */
export function checkTarget(url: URL, allowed: DeliverTo): void {
  if (allowed === "nowhere") throw new Blocked("This sandbox was started to deliver nothing.");
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new Blocked(`${url.protocol} is neither http nor https.`);
  }
  if (isIP(host) !== 0) checkAddress(host, host, allowed);
}

/** Refuses an address that a host has, unless it is this machine's or the host is allowed. @throws Blocked */
export function checkAddress(host: string, address: string, allowed: DeliverTo): void {
  if (isLoopback(address) || isNamed(host, allowed)) return;
  const where = host === address ? address : `${host} (${address})`;
  throw new Blocked(`${where} is not this machine. Start the sandbox with --deliver-to ${host} to allow it.`);
}
