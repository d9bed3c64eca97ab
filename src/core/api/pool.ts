/** The connections to a host, or to its proxy. Loads undici, which takes longer to load than the rest of the client. */
import { Agent, type Dispatcher } from "undici";
import { type ConnectorOptions, connectorTo } from "./connect.ts";
import { routeTo, type Variables } from "./proxy.ts";

/** Number of requests side by side: the changes of an apply, and the pages of a list that are read ahead. */
const CONNECTIONS = 10;

/** The connection pool for a base URL, through its proxy if there is one. @throws HostformError `provider.proxy`. */
export function connectionPool(
  baseUrl: URL,
  env: Variables,
  options: Pick<ConnectorOptions, "timeoutMs" | "onStep">,
): ConnectionPool {
  const route = routeTo(baseUrl, env);
  const forwards = route.proxy !== undefined && baseUrl.protocol === "http:";
  const connector = { ...options, route, forwards };
  return forwards ? new ForwardingPool(connector) : new ConnectionPool(connector);
}

class ConnectionPool extends Agent {
  readonly #closed: AbortController;

  constructor(options: Omit<ConnectorOptions, "closed">) {
    const closed = new AbortController();
    super({
      allowH2: false,
      connections: CONNECTIONS,
      connect: connectorTo({ ...options, closed: closed.signal }),
    });
    this.#closed = closed;
  }

  /** Ends all connections at once, also those that are being opened, for which `close` would wait. */
  async end(): Promise<void> {
    this.#closed.abort();
    await this.destroy();
  }
}

/** Asks a proxy for plain http: it gets the whole address (RFC 9112, 3.2.2). */
class ForwardingPool extends ConnectionPool {
  readonly #authorization: string | undefined;

  constructor(options: Omit<ConnectorOptions, "closed">) {
    super(options);
    this.#authorization = options.route.proxy?.authorization;
  }

  override dispatch(options: Agent.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const headers = {
      ...(options.headers as Record<string, string> | undefined),
      ...(this.#authorization !== undefined && { "proxy-authorization": this.#authorization }),
    };
    return super.dispatch({ ...options, path: `${options.origin}${options.path}`, headers }, handler);
  }
}
