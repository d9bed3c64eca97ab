/**
 * Restricts the targets of deliveries, because their URLs come from users and could reach the network of this machine. By
 * default, only loopback is allowed. The options can list hosts, or allow "anywhere". The address is checked at the
 * connection, because a name can resolve to another address each time.
 */
import { BlockList, isIP } from "node:net";
import { SandboxOptionError } from "../refusal.ts";

export type DeliverTo = "loopback" | "anywhere" | "nowhere" | readonly string[];

/** The options do not allow the target. */
export class Blocked extends Error {}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

const WORDS = ["loopback", "anywhere", "nowhere"];

/**
 * Normalizes the hosts of the option as a URL would. The default is loopback.
 * @throws SandboxOptionError for a URL, a port or a pattern, because it would match no host
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

/** Returns a suggestion for a message: the host of a URL. Empty if there is none. */
function hostIn(text: string): string {
  for (const url of [text, `http://${text}`]) {
    const host = URL.canParse(url) ? new URL(url).hostname : "";
    if (host !== "" && !host.includes("*")) return ` Did you mean ${host}?`;
  }
  return "";
}

/**
 * Checks the scheme of a URL, and its host if that is an address, because an address needs no lookup.
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

/**
 * Checks an address of a host. Allowed are loopback addresses, and all addresses of an allowed host.
 * @throws Blocked
 */
export function checkAddress(host: string, address: string, allowed: DeliverTo): void {
  // BlockList also matches IPv4 addresses that are mapped into IPv6.
  if (loopback.check(address, isIP(address) === 6 ? "ipv6" : "ipv4")) return;
  // An allowed host may have any address.
  if (typeof allowed === "string" ? allowed === "anywhere" : allowed.includes(host.toLowerCase())) return;
  const where = host === address ? address : `${host} (${address})`;
  throw new Blocked(`${where} is not this machine. Start the sandbox with --deliver-to ${host} to allow it.`);
}
