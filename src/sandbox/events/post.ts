/**
 * The way out of deliveries, and where they may go. A sandbox is fed with URLs by anyone who tries things, and must not knock at doors in their network:
 * loopback only, unless the options name hosts or say "anywhere". The address is checked when the connection is made, as
 * that is the one that counts: a name may lead elsewhere by then.
 */
import { lookup as systemLookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { SandboxOptionError } from "../refusal.ts";

export type DeliverTo = "loopback" | "anywhere" | "nowhere" | readonly string[];

/** Thrown for a target that the options do not allow. */
class Blocked extends Error {}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

const WORDS = ["loopback", "anywhere", "nowhere"];

/**
 * The option as it is compared with: hosts in the form that URLs have them in. Default: this machine.
 * @throws SandboxOptionError for a URL, a port or a pattern in the place of a host: it would allow nothing, and nobody said so.
 */
export function deliverToOf(given: DeliverTo = "loopback"): DeliverTo {
  if (typeof given !== "string") return given.map(hostOf);
  if (WORDS.includes(given)) return given;
  throw new SandboxOptionError(`deliverTo is one of ${WORDS.join(", ")}, or a list of hosts, not "${given}".`);
}

function hostOf(text: string): string {
  if (WORDS.includes(text)) {
    throw new SandboxOptionError(`Hosts that events may go to: "${text}" is none, and stands by itself.`);
  }
  const bare = text.replace(/^\[(.*)\]$/, "$1");
  if (isIP(bare) === 6) return new URL(`http://[${bare}]`).hostname.slice(1, -1);
  const isHost = !/[\s*,:/?#@\\%[\]]/.test(text) && URL.canParse(`http://${text}`);
  if (isHost) return new URL(`http://${text}`).hostname;
  throw new SandboxOptionError(
    `Events may go to a host such as hooks.example or 192.0.2.7, without a scheme, port or path, not to "${text}".${hostIn(text)}`,
  );
}

/** The host that was meant by a URL, for a sentence. */
function hostIn(text: string): string {
  for (const url of [text, `http://${text}`]) {
    const host = URL.canParse(url) ? new URL(url).hostname : "";
    if (host !== "" && !host.includes("*")) return ` Give ${host}.`;
  }
  return "";
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
  // An IPv4 address in the clothes of an IPv6 one is checked by BlockList as what it is.
  if (loopback.check(address, isIP(address) === 6 ? "ipv6" : "ipv4")) return;
  // A host that is named in the options may have any address.
  if (typeof allowed === "string" ? allowed === "anywhere" : allowed.includes(host.toLowerCase())) return;
  const where = host === address ? address : `${host} (${address})`;
  throw new Blocked(`${where} is not this machine. Start the sandbox with --deliver-to ${host} to allow it.`);
}

/** What came of one attempt: a status, or why there is none. `blocked`: the address is not allowed. */
export interface PostResult {
  status: number | null;
  error: string | null;
  blocked: boolean;
}

export interface Post {
  /** Never rejects. Redirects are answers like any other. */
  send(url: string, body: string, headers: Readonly<Record<string, string>>): Promise<PostResult>;
  /** Breaks off what is under way. */
  close(): Promise<void>;
}

/** What a receiver answers is thrown away; a long answer is cut off. */
const LONGEST_ANSWER = 1_000_000;

/** Opens the way; undici is loaded only now, as most sandboxes send nothing. `lookup` is the system's unless a test brings its own. */
export async function openPost(
  allowed: DeliverTo,
  timeoutMs: number,
  lookup: LookupFunction = systemLookup,
): Promise<Post> {
  const { Agent, request } = await import("undici");
  const guarded: LookupFunction = (host, options, callback) => {
    lookup(host, options, (error, found, family) => {
      if (error) return callback(error, found, family);
      const addresses = typeof found === "string" ? [found] : found.map(({ address }) => address);
      try {
        for (const address of addresses) checkAddress(host, address, allowed);
      } catch (refused) {
        return callback(refused as Error, []);
      }
      callback(null, found, family);
    });
  };
  const agent = new Agent({ connect: { lookup: guarded, timeout: timeoutMs }, maxResponseSize: LONGEST_ANSWER });
  return {
    async send(url, body, headers) {
      try {
        const target = new URL(url);
        checkTarget(target, allowed);
        const signal = AbortSignal.timeout(timeoutMs);
        const answer = await request(target, { method: "POST", dispatcher: agent, headers, body, signal });
        await answer.body.dump();
        return { status: answer.statusCode, error: null, blocked: false };
      } catch (error) {
        return { status: null, ...reasonOf(error, timeoutMs) };
      }
    },
    close: () => agent.destroy(),
  };
}

function reasonOf(error: unknown, timeoutMs: number): Pick<PostResult, "error" | "blocked"> {
  // The refusal of an address comes as the cause of the connection's own error.
  for (let one = error; one instanceof Error; one = one.cause) {
    if (one instanceof Blocked) return { error: one.message, blocked: true };
  }
  if (error instanceof Error && error.name === "TimeoutError") {
    return { error: `No answer within ${timeoutMs / 1000} seconds.`, blocked: false };
  }
  return { error: error instanceof Error ? error.message || error.name : String(error), blocked: false };
}
