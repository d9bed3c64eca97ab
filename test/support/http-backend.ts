/** A server for one state and its lock, compatible with Terraform's `http` backend. Runs on loopback for one test. */
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as bodyOf } from "node:stream/consumers";

/**
 * `plain`: uses LOCK and UNLOCK, and responds with 423. `gitlab`: uses POST and DELETE at `/lock`, responds with 409
 * and the lock of the request, and rejects a second write of a serial.
 */
export type Flavour = "plain" | "gitlab";

/**
 * Replacement for the server's response to one request: a response, or a connection that breaks before or after the
 * server handles the request.
 */
export type Fault =
  | { readonly status: number; readonly type?: string; readonly body?: string; readonly location?: string }
  | { readonly broken: "before" | "after" }
  /** The server never responds. `after`: the server handles the request. */
  | { readonly hangs: "before" | "after" };

export interface HttpBackendOptions {
  readonly flavour?: Flavour;
  /** Credentials as `user:password`. */
  readonly credentials?: string;
  /** True if the response to a locked state does not name the holder. */
  readonly silent?: boolean;
}

/** One request, as `POST /state?ID=…`. */
export interface Seen {
  readonly line: string;
  readonly body: string;
}

export class HttpBackend {
  state: string | undefined;
  /** Current lock, as its holder described it. */
  lock: Record<string, unknown> | undefined;
  readonly requests: Seen[] = [];
  /** Called before each request. */
  fault: (line: string, nth: number) => Fault | undefined = () => undefined;
  /** Called with the new state after each write. */
  onWrite: (state: string) => void = () => undefined;
  readonly #options: HttpBackendOptions;
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  private constructor(options: HttpBackendOptions) {
    this.#options = options;
  }

  static async start(options: HttpBackendOptions = {}): Promise<HttpBackend> {
    const backend = new HttpBackend(options);
    await new Promise<void>((resolve) => backend.#server.listen(0, "127.0.0.1", resolve));
    return backend;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/state`;
  }

  /** Settings of the backend for hostform and Terraform. */
  get settings(): Record<string, string> {
    const lock = `${this.url}/lock`;
    const settings = { address: this.url, lock_address: lock, unlock_address: lock };
    return this.#options.flavour === "gitlab"
      ? { ...settings, lock_method: "POST", unlock_method: "DELETE" }
      : settings;
  }

  /** Returns the requests as `GET /state`, without ids. Clears the log. */
  sent(): string[] {
    return this.requests.splice(0).map(({ line }) => line.replace(/ID=.*/, "ID"));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const line = `${request.method} ${request.url}`;
    this.requests.push({ line, body });
    const fault = this.fault(line, this.requests.length);
    if (fault !== undefined && "status" in fault) {
      const { status, type = "application/json", location } = fault;
      response.writeHead(status, { "content-type": type, ...(location && { location }) }).end(fault.body);
      return;
    }
    if (fault !== undefined && "hangs" in fault) {
      if (fault.hangs === "after") this.#carryOut(request, body);
      return;
    }
    if (fault?.broken === "before") {
      request.socket.destroy();
      return;
    }
    const [status, answer = ""] = this.#carryOut(request, body);
    if (fault?.broken === "after") request.socket.destroy();
    else response.writeHead(status, { "content-type": "application/json" }).end(answer);
  }

  #carryOut(request: IncomingMessage, body: string): [status: number, answer?: string] {
    const { credentials } = this.#options;
    const expected = `Basic ${Buffer.from(credentials ?? "").toString("base64")}`;
    if (credentials !== undefined && request.headers.authorization !== expected) return [401];
    const url = new URL(request.url ?? "", "http://localhost");
    const locking = url.pathname === "/state/lock";
    if (request.method === "GET") return this.state === undefined ? [404] : [200, this.state];
    if (request.headers["content-md5"] !== createHash("md5").update(body).digest("base64")) return [400];
    const [lock, unlock] = this.#options.flavour === "gitlab" ? ["POST", "DELETE"] : ["LOCK", "UNLOCK"];
    if (locking && request.method === lock) return this.#lock(JSON.parse(body));
    if (locking && request.method === unlock) return this.#unlock(JSON.parse(body));
    if (!locking && request.method === "POST") return this.#write(url.searchParams.get("ID"), body);
    return [405];
  }

  #lock(asker: Record<string, unknown>): [number, string?] {
    if (this.lock === undefined) {
      this.lock = asker;
      return [200, JSON.stringify(asker)];
    }
    if (this.#options.silent) return [423];
    if (this.#options.flavour !== "gitlab") return [423, JSON.stringify(this.lock)];
    const { ID, Who, Created } = this.lock;
    const { Operation, Info, Version, Path } = asker;
    return [409, JSON.stringify({ Operation, Info, Version, Path, ID, Who, Created })];
  }

  #unlock({ ID }: Record<string, unknown>): [number, string?] {
    if (this.lock === undefined) return this.#options.flavour === "gitlab" ? [200] : [404];
    if (ID !== this.lock.ID) return [409, JSON.stringify(this.lock)];
    this.lock = undefined;
    return [200];
  }

  #write(id: string | null, body: string): [number, string?] {
    if (this.lock !== undefined && id !== this.lock.ID) return [409, JSON.stringify(this.lock)];
    const serial = (text: string) => (JSON.parse(text) as { serial: number }).serial;
    if (this.#options.flavour === "gitlab" && this.state !== undefined && serial(this.state) >= serial(body)) {
      return [422, JSON.stringify({ message: "Version has already been taken" })];
    }
    this.state = body;
    this.onWrite(body);
    return [200];
  }
}
