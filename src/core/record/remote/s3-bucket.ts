// Objects of an S3 bucket: signed requests, conditional writes, and the proof that the store respects the conditions.
import { hash } from "node:crypto";
import { raise } from "../../messages/index.ts";
import {
  createWire,
  describeExchange,
  errorCode,
  type Headers,
  type HttpRequest,
  type HttpResponse,
  isSuccess,
  isUnclear,
  JSON_BODY,
  refuseAnswer,
  Unanswered,
  type WireOptions,
} from "./http-wire.ts";

export interface BucketOptions extends WireOptions {
  /** URL of the bucket with a slash at the end. */
  readonly bucket: URL;
  readonly region: string;
  readonly credentials: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
  /** Headers of each write, such as the headers for encryption at the store. */
  readonly writeHeaders: Headers;
}

export type Bucket = ReturnType<typeof createBucket>;

/** Condition of a write: no object has this key. */
export const ABSENT = { "if-none-match": "*" };
const OTHER = { "if-match": `"${"0".repeat(32)}"` };

/** Time limit for the removal of the probe's object, in milliseconds. */
const PARTING_MS = 3_000;

/** Buckets that this process has probed. */
const probed = new Set<string>();

export function createBucket({ bucket, region, credentials, writeHeaders, ...options }: BucketOptions) {
  const headersOf = async ({ method, url, body = "", headers }: HttpRequest) => {
    const { AwsV4Signer } = await import("aws4fetch");
    const signer = new AwsV4Signer({
      ...credentials,
      method,
      url: url.href,
      headers: { ...headers, "x-amz-content-sha256": hash("sha256", body) },
      service: "s3",
      region,
      datetime: new Date(options.clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, ""),
    });
    return Object.fromEntries((await signer.sign()).headers);
  };
  // A store reports a simultaneous request for the same key with 409.
  const wire = createWire(options, { headersOf, busy: 409 });

  const urlOf = (key: string) => new URL(key.split("/").map(encodeURIComponent).join("/"), bucket);
  const putOf = (key: string, body: string, condition: Headers): HttpRequest => ({
    method: "PUT",
    url: urlOf(key),
    body,
    headers: { ...JSON_BODY, ...writeHeaders, ...condition },
  });

  /** Reads an object. Undefined if the object does not exist. Any other 404 is an error, because it may hide a state. */
  const get = async (key: string, signal?: AbortSignal): Promise<HttpResponse | undefined> => {
    const message = { method: "GET", url: urlOf(key) };
    const answer = await wire.ask(message, signal);
    if (answer.status === 404 && errorCode(answer) === "NoSuchKey") return undefined;
    return answer.status === 200 && isSuccess(answer) ? answer : refuseAnswer("read", message, answer, "s3");
  };

  /**
   * Writes an object.
   * @returns the response and its description. The response is a success or reports a condition that is not met.
   */
  const put = async (key: string, body: string, condition: Headers, signal?: AbortSignal) => {
    const message = putOf(key, body, condition);
    const answer = await wire.ask(message, signal);
    if (!isSuccess(answer) && answer.status !== 412) refuseAnswer("written", message, answer, "s3");
    return { answer, exchange: describeExchange(message, answer) };
  };

  const remove = async (key: string, signal?: AbortSignal): Promise<void> => {
    const message = { method: "DELETE", url: urlOf(key) };
    const answer = await wire.ask(message, signal);
    if (!isSuccess(answer) && answer.status !== 404) refuseAnswer("freed", message, answer, "s3");
  };

  /** Returns access to an object. A write replaces only the version that this process read or wrote last. */
  const stored = (key: string) => {
    let version: string | undefined;
    const isCurrent = async () => (await get(key))?.etag === version;
    const read = async (signal?: AbortSignal) => {
      const there = await get(key, signal);
      version = there?.etag;
      return there?.text || undefined;
    };
    /** Replaces the object. @throws HostformError `state.lost_lock` if its version changed; `state.unwritable`, `state.backend`. */
    const write = async (body: string) => {
      const message = putOf(key, body, version === undefined ? ABSENT : { "if-match": version });
      const answer = await wire.send(message);
      const place = message.url.href;
      // The content shows whether a write with a lost response arrived.
      const there = isUnclear(answer) ? await get(key).catch(() => undefined) : undefined;
      if (there?.text === body) version = there.etag;
      else if (answer instanceof Unanswered)
        raise("state.unwritable", { place: `PUT ${place}`, reason: answer.message, consequence: undefined });
      else if (isSuccess(answer)) version = answer.etag;
      else if (answer.status === 412 || errorCode(answer) === "NoSuchKey")
        raise("state.lost_lock/changed", { place, hint: "Was the lock freed by hand, or does a writer not lock?" });
      else refuseAnswer("written", message, answer, "s3");
    };
    return { read, write, isCurrent };
  };

  /**
   * Proves with an object of its own that the store respects conditions of writes. Once for each bucket and process.
   * @throws HostformError `state.backend`.
   */
  const probe = async (key: string, signal?: AbortSignal): Promise<void> => {
    if (probed.has(bucket.href)) return;
    const first = await put(key, "probe", {}, signal);
    const cases: [Headers, boolean][] = [
      [ABSENT, false],
      [OTHER, false],
      [{ "if-match": first.answer.etag ?? "" }, true],
    ];
    try {
      for (const [condition, isMet] of cases) {
        const { answer, exchange } = await put(key, "probe", condition, signal);
        if (isSuccess(answer) === isMet || (isMet && answer.doubtful)) continue;
        raise("state.backend/conditional", { condition: Object.keys(condition).join(), exchange });
      }
    } finally {
      await remove(key, AbortSignal.timeout(PARTING_MS)).catch(() => undefined);
    }
    probed.add(bucket.href);
  };

  return { urlOf, get, put, remove, stored, probe, mayHaveSent: wire.mayHaveSent };
}
