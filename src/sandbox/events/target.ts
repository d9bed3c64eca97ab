/**
 * Restricts the targets of deliveries. The URLs come from users, and a sandbox must not send requests into their network. Only
 * loopback is allowed, unless the options list hosts or contain "anywhere". The address is checked when the connection is opened,
 * because the name may resolve to another address by then.
 */
import { BlockList, isIP } from "node:net";
import { SandboxOptionError } from "../refusal.ts";

export type DeliverTo = "loopback" | "anywhere" | "nowhere" | readonly string[];

/** Thrown for a target that the options do not allow. */
export class Blocked extends Error {}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

const WORDS = ["loopback", "anywhere", "nowhere"];

/**
 * Normalizes the option: hosts are written as in URLs. Default: this machine.
 * @throws SandboxOptionError for a URL, a port or a pattern instead of a host, because it would silently allow nothing.
 */
export function deliverToOf(given: DeliverTo = "loopback"): DeliverTo {
  if (typeof given !== "string") return given.map(hostOf);
  if (WORDS.includes(given)) return given;
  throw new SandboxOptionError(`deliverTo is one of ${WORDS.join(", ")}, or a list of hosts, not "${given}".`);
}

function hostOf(text: string): string {
  if (WORDS.includes(text)) {
    throw new SandboxOptionError(`"${text}" is not a host. Pass this word alone, or pass only hosts.`);
  }
  const bare = text.replace(/^\[(.*)\]$/, "$1");
  if (isIP(bare) === 6) return new URL(`http://[${bare}]`).hostname.slice(1, -1);
  const isHost = !/[\s*,:/?#@\\%[\]]/.test(text) && URL.canParse(`http://${text}`);
  if (isHost) return new URL(`http://${text}`).hostname;
  throw new SandboxOptionError(
    `"${text}" is not a host. Name a host such as hooks.example or 192.0.2.7, without a scheme, port or path.${hostIn(text)}`,
  );
}

/** Returns the host of a URL for a message. */
function hostIn(text: string): string {
  for (const url of [text, `http://${text}`]) {
    const host = URL.canParse(url) ? new URL(url).hostname : "";
    if (host !== "" && !host.includes("*")) return ` Did you mean ${host}?`;
  }
  return "";
}

/**
 * Checks the scheme of a delivery's URL. If the host is an address, checks it too, because no name is looked up.
 * @throws Blocked
 */
export function checkTarget(url: URL, allowed: DeliverTo): void {
  if (allowed === "nowhere") throw new Blocked("This sandbox delivers no events. Start it with --deliver-to.");
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new Blocked(`${url.protocol} is neither http nor https.`);
  }
  if (isIP(host) !== 0) checkAddress(host, host, allowed);
}

/** Rejects an address of a host, unless it belongs to this machine or the host is allowed. @throws Blocked */
export function checkAddress(host: string, address: string, allowed: DeliverTo): void {
  // BlockList recognizes an IPv4 address that is mapped into IPv6.
  if (loopback.check(address, isIP(address) === 6 ? "ipv6" : "ipv4")) return;
  // A host in the options may have any address.
  if (typeof allowed === "string" ? allowed === "anywhere" : allowed.includes(host.toLowerCase())) return;
  const where = host === address ? address : `${host} (${address})`;
  throw new Blocked(`${where} is not this machine. Start the sandbox with --deliver-to ${host} to allow it.`);
}
