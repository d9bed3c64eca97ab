/** The proxy of a server, from the environment. */

import { raise } from "../messages/index.ts";
import { isLoopback } from "../model/index.ts";

export type Variables = Readonly<Record<string, string | undefined>>;

/** The other end of a connection: the API or its proxy. */
export interface Peer {
  readonly host: string;
  readonly port: number;
  /** Environment variable that names the proxy. Undefined: the peer is the API. */
  readonly variable?: string;
  /** The proxy between hostform and the API. */
  readonly via?: Peer;
  /** Environment variable for a proxy to the API. */
  readonly proxyVariable?: string | undefined;
  /** True if `proxyVariable` is set and NO_PROXY exempts the API. */
  readonly isExempt?: boolean | undefined;
}

/** Route to a server. */
export interface Route extends Pick<Peer, "proxyVariable" | "isExempt"> {
  readonly proxy: HttpProxy | undefined;
}

/** A proxy and its credentials. */
export interface HttpProxy extends Peer {
  readonly variable: string;
  readonly isTls: boolean;
  /** The value of Proxy-Authorization. */
  readonly authorization: string | undefined;
}

/**
 * Returns the route by HTTPS_PROXY or HTTP_PROXY, and NO_PROXY, lower case first. Loopback addresses never use a proxy: plain http is
 * allowed there because it stays on the machine.
 * @throws HostformError `provider.proxy`, without the value, which may contain a password.
 */
export function routeTo(url: URL, env: Variables): Route {
  if (isLoopback(url)) return { proxy: undefined };
  const variable = url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const value = setting(env, variable);
  const exempt = value !== "" && isExempt(setting(env, "NO_PROXY"), bare(url.hostname), portOf(url));
  if (value === "" || exempt) return { proxy: undefined, proxyVariable: variable, isExempt: exempt };
  // Accept a value without a scheme, which is customary: `proxy.example:3128`.
  const proxy = URL.parse(value.includes("://") ? value : `http://${value}`);
  const pair = proxy === null ? undefined : pairIn(proxy);
  if (proxy === null || pair === undefined || !/^https?:$/.test(proxy.protocol) || proxy.hostname === "") {
    raise("provider.proxy", { variable });
  }
  return {
    proxy: {
      host: bare(proxy.hostname),
      port: portOf(proxy),
      variable,
      isTls: proxy.protocol === "https:",
      authorization: pair === "" ? undefined : `Basic ${Buffer.from(pair).toString("base64")}`,
    },
  };
}

function setting(env: Variables, name: string): string {
  return (env[name.toLowerCase()] ?? env[name] ?? "").trim();
}

/** Returns `USER:PASSWORD`, or "" without them; undefined if they are not percent-encoded correctly. */
function pairIn({ username, password }: URL): string | undefined {
  try {
    return username === "" && password === "" ? "" : `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  } catch {
    return undefined;
  }
}

const bare = (host: string) => host.replace(/^\[|\]$|\.$/g, "");
export const portOf = ({ port, protocol }: Pick<URL, "port" | "protocol">) =>
  Number(port) || (protocol === "https:" ? 443 : 80);

/**
 * Returns true if NO_PROXY names a server: `*`, `api.example` (and its subdomains), `.example`, `*.example` (only subdomains), an IP
 * address, or a network such as `10.0.0.0/8`; each may have a port.
 */
function isExempt(list: string, host: string, port: number): boolean {
  return list.split(/[\s,]+/).some((entry) => {
    const [, named, only] = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(entry) ?? [];
    if (only !== undefined && Number(only) !== port) return false;
    const name = bare((named ?? entry).toLowerCase());
    if (name === "*") return true;
    const [network = "", bits] = name.split("/");
    if (bits !== undefined) return isInNetwork(host, network, Number(bits));
    const suffix = name.replace(/^\*?\./, "");
    return suffix !== "" && ((host === suffix && !name.startsWith("*")) || host.endsWith(`.${suffix}`));
  });
}

function isInNetwork(host: string, network: string, bits: number): boolean {
  const { BlockList, isIP, isIPv6 } = process.getBuiltinModule("node:net");
  const [version, family] = [isIP(network), isIPv6(network) ? "ipv6" : "ipv4"] as const;
  if (version === 0 || isIP(host) !== version || !(bits >= 0 && bits <= (version === 6 ? 128 : 32))) return false;
  const list = new BlockList();
  list.addSubnet(network, bits, family);
  return list.check(host, family);
}
