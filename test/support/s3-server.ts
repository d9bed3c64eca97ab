/**
 * A store with the part of the S3 protocol that a state needs: objects with an ETag, conditional writes, signed requests
 * (AWS Signature Version 4), and the list that Terraform requests. Runs on loopback for one test.
 */
import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";

/** Replacement for the response to one request. `after`: the store handles the request first. */
export type Fault =
  | { readonly status: number; readonly code?: string; readonly body?: string; readonly location?: string }
  | { readonly broken: "before" | "after" }
  | { readonly hangs: "before" | "after" }
  | { readonly slowMs: number };

/** Promise that the store does not keep. */
export type Lie = "if-none-match" | "if-match" | "stale" | "forgets";

export const KEYS = { id: "AKIACANARYOFTHESTORE", secret: "canary/of+the/secret", token: "canary-of-the-session" };

const BUCKET = "states";
export const KEY = "clients/acme.tfstate";
const REGION = "eu-test-1";

interface Stored {
  readonly body: string;
  readonly etag: string;
  readonly headers: IncomingMessage["headers"];
}

type Answer = readonly [status: number, body?: string, headers?: Record<string, string>];

const errorBody = (code: string) =>
  `<?xml version="1.0"?><Error><Code>${code}</Code><Message>As ${code}.</Message></Error>`;
const refusal = (status: number, code: string): Answer => [
  status,
  errorBody(code),
  { "content-type": "application/xml" },
];

export class S3Server {
  readonly objects = new Map<string, Stored>();
  /** Requests as `PUT states/acme.tfstate if-none-match`. */
  readonly requests: string[] = [];
  readonly lies = new Set<Lie>();
  /** Called before each request. */
  fault: (line: string, nth: number) => Fault | undefined = () => undefined;
  /** Called after each write of an object. */
  onWrite: (key: string) => void = () => undefined;
  /** Objects before their last write, for the lie `stale`. */
  readonly #earlier = new Map<string, Stored | undefined>();
  readonly #server = createServer((request, response) => void this.#respond(request, response));

  static async start(): Promise<S3Server> {
    const store = new S3Server();
    await new Promise<void>((resolve) => store.#server.listen(0, "127.0.0.1", resolve));
    return store;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Settings of the backend for hostform and Terraform. */
  get settings() {
    const skips = ["credentials_validation", "metadata_api_check", "region_validation", "requesting_account_id"];
    return {
      bucket: BUCKET,
      key: KEY,
      region: REGION,
      endpoints: { s3: this.url },
      use_lockfile: true,
      use_path_style: true,
      ...Object.fromEntries(skips.map((name) => [`skip_${name}`, true])),
    };
  }

  get env(): Record<string, string> {
    return { AWS_ACCESS_KEY_ID: KEYS.id, AWS_SECRET_ACCESS_KEY: KEYS.secret, AWS_SESSION_TOKEN: KEYS.token };
  }

  /** Returns the body of an object. */
  body(key: string): string | undefined {
    return this.objects.get(key)?.body;
  }

  write(key: string, body: string, headers: IncomingMessage["headers"] = {}): string {
    this.#earlier.set(key, this.objects.get(key));
    const etag = `"${createHash("md5").update(body).digest("hex")}"`;
    this.objects.set(key, { body, etag, headers });
    this.onWrite(key);
    return etag;
  }

  /** Returns the requests since the last call, without the names of probes. */
  sent(): string[] {
    return this.requests.splice(0).map((line) => line.replace(/\.[\w-]+\.probe/, ".probe"));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const raw = await buffer(request);
    const url = new URL(request.url ?? "", this.url);
    const condition = ["if-match", "if-none-match"].filter((name) => request.headers[name] !== undefined);
    const line = [request.method, decodeURIComponent(url.pathname.slice(1)), ...condition].join(" ");
    this.requests.push(line);
    const fault = this.fault(line, this.requests.length);
    const send = ([status, body = "", headers = {}]: Answer) => {
      const length = Buffer.byteLength(body);
      response.writeHead(status, { "content-length": length, "x-amz-request-id": "1", ...headers });
      response.end(request.method === "HEAD" ? undefined : body);
    };
    if (fault !== undefined && "status" in fault) {
      const { status, code, body = code === undefined ? "" : errorBody(code), location } = fault;
      return send([status, body, { ...(location && { location }) }]);
    }
    if (fault !== undefined && "slowMs" in fault) await pause(fault.slowMs);
    if (fault !== undefined && "hangs" in fault) {
      if (fault.hangs === "after") this.#carryOut(request, url, raw);
      return;
    }
    if (fault !== undefined && "broken" in fault) {
      if (fault.broken === "after") this.#carryOut(request, url, raw);
      request.socket.destroy();
      return;
    }
    send(this.#carryOut(request, url, raw));
  }

  #carryOut(request: IncomingMessage, url: URL, raw: Buffer): Answer {
    const refused = refusedSignature(request, url, raw);
    if (refused !== undefined) return refusal(403, refused);
    const [bucket, ...rest] = decodeURIComponent(url.pathname).slice(1).split("/");
    if (bucket !== BUCKET) return refusal(404, "NoSuchBucket");
    const key = rest.join("/");
    if (request.method === "GET" && key === "") return this.#list(url);
    if (request.method === "PUT") return this.#put(key, bodyOf(request, raw), request.headers);
    if (request.method === "DELETE") {
      this.#earlier.set(key, this.objects.get(key));
      this.objects.delete(key);
      return [204];
    }
    const isStale = this.lies.has("stale") && this.#earlier.has(key) && !key.endsWith(".probe");
    const there = isStale ? this.#earlier.get(key) : this.objects.get(key);
    if (there === undefined) return refusal(404, "NoSuchKey");
    return [200, there.body, { etag: there.etag, "content-type": "application/json", "accept-ranges": "bytes" }];
  }

  #put(key: string, body: string, headers: IncomingMessage["headers"]): Answer {
    const there = this.objects.get(key);
    const { "if-none-match": absent, "if-match": same } = headers;
    if (absent === "*" && there !== undefined && !this.lies.has("if-none-match")) {
      return refusal(412, "PreconditionFailed");
    }
    if (same !== undefined && !this.lies.has("if-match")) {
      if (there === undefined) return refusal(404, "NoSuchKey");
      if (there.etag !== same) return refusal(412, "PreconditionFailed");
    }
    if (this.lies.has("forgets") && key.endsWith(".tfstate")) return [200, "", { etag: '"forgotten"' }];
    return [200, "", { etag: this.write(key, body, headers) }];
  }

  #list(url: URL): Answer {
    const prefix = url.searchParams.get("prefix") ?? "";
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix)).toSorted();
    const contents = keys.map((key) => `<Contents><Key>${key}</Key></Contents>`).join("");
    const body = `<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated>${contents}</ListBucketResult>`;
    return [200, body, { "content-type": "application/xml" }];
  }
}

/** Returns the body, also of a request in signed chunks with a trailer. */
function bodyOf({ headers }: IncomingMessage, raw: Buffer): string {
  if (!String(headers["x-amz-content-sha256"]).startsWith("STREAMING-")) return raw.toString();
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const end = raw.indexOf("\r\n", at);
    const size = Number.parseInt(raw.toString("latin1", at, end), 16);
    if (!(size > 0)) return Buffer.concat(parts).toString();
    parts.push(raw.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}

const sha256 = (data: string | Buffer) => createHash("sha256").update(data).digest("hex");
const hmac = (key: string | Buffer, data: string) => createHmac("sha256", key).update(data).digest();
const encoded = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);

/** Returns the code of the error in the signature of a request, computed from the specification of Signature Version 4. */
function refusedSignature({ method, headers }: IncomingMessage, url: URL, raw: Buffer): string | undefined {
  const form =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/([^/]+)\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=(\w+)$/;
  const [, id, date = "", region = "", names = "", signature] = form.exec(headers.authorization ?? "") ?? [];
  if (id === undefined) return "AccessDenied";
  if (id !== KEYS.id) return "InvalidAccessKeyId";
  if (region !== REGION) return "AuthorizationHeaderMalformed";
  if (headers["x-amz-security-token"] !== KEYS.token) return "InvalidToken";
  const payload = String(headers["x-amz-content-sha256"]);
  if (/^[0-9a-f]{64}$/.test(payload) && payload !== sha256(raw)) return "XAmzContentSHA256Mismatch";
  const signed = names.split(";");
  const required = Object.keys(headers).filter((name) => name.startsWith("x-amz-") || name.startsWith("if-"));
  if (!["host", ...required].every((name) => signed.includes(name))) return "AccessDenied";
  const query = [...url.searchParams].map((pair) => pair.map(encoded).join("=")).toSorted();
  const canonical = [
    method,
    decodeURIComponent(url.pathname).split("/").map(encoded).join("/"),
    query.join("&"),
    ...signed.map((name) => `${name}:${String(headers[name]).trim().replace(/\s+/g, " ")}`),
    "",
    names,
    payload,
  ].join("\n");
  const scope = `${date}/${region}/s3/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, sha256(canonical)].join("\n");
  const key = [date, region, "s3", "aws4_request"].reduce<string | Buffer>(hmac, `AWS4${KEYS.secret}`);
  return hmac(key, text).toString("hex") === signature ? undefined : "SignatureDoesNotMatch";
}
