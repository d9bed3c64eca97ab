// Objects of an S3 bucket: signed requests, conditional writes, and the proof that the store respects the conditions.
import { hash } from "node:crypto";
import { type Doing, raise } from "../../messages/index.ts";
import {
  createWire,
  describeExchange,
  errorCode,
  type Headers,
  type HttpRequest,
  type HttpResponse,
  isSuccess,
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
  /** Headers of each write, such as those of the encryption at the store. */
  readonly writeHeaders: Headers;
}

export type Bucket = ReturnType<typeof createBucket>;

/** Condition of a write: no object has this key. */
export const ABSENT = { "if-none-match": "*" };
const OTHER = { "if-match": `"${"0".repeat(32)}"` };

/** Buckets that this process has probed. */
const probed = new Set<string>();

export function createBucket(options: BucketOptions) {
  const { bucket, region, credentials, clock } = options;

  const headersOf = async ({ method, url, body = "", headers }: HttpRequest) => {
    const { AwsV4Signer } = await import("aws4fetch");
    const signer = new AwsV4Signer({
      ...credentials,
      method,
      url: url.href,
      headers: { ...headers, "x-amz-content-sha256": hash("sha256", body) },
      service: "s3",
      region,
      datetime: new Date(clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, ""),
    });
    return Object.fromEntries((await signer.sign()).headers);
  };
  // A store reports a simultaneous request for the same key with 409.
  const wire = createWire(options, { headersOf, busy: 409 });

  const urlOf = (key: string) => new URL(key.split("/").map(encodeURIComponent).join("/"), bucket);
  const putOf = (key: string, body: string, condition: Headers = {}): HttpRequest => ({
    method: "PUT",
    url: urlOf(key),
    body,
    headers: { ...JSON_BODY, ...options.writeHeaders, ...condition },
  });

  /** Returns undefined if the object does not exist. Another 404 is an error: it may hide a state. */
  const get = async (key: string, signal?: AbortSignal): Promise<HttpResponse | undefined> => {
    const message = { method: "GET", url: urlOf(key) };
    const answer = await wire.ask(message, signal);
    if (answer.status === 404 && errorCode(answer) === "NoSuchKey") return undefined;
    return answer.status === 200 && isSuccess(answer) ? answer : refuse("read", message, answer);
  };

  const put = async (key: string, body: string, condition: Headers, signal?: AbortSignal) => {
    const message = putOf(key, body, condition);
    return { message, answer: await wire.ask(message, signal) };
  };

  /**
   * Writes an object under a condition. After a lost response, reads the object to learn the result.
   * @returns the new version. @throws HostformError `state.lost_lock` if the condition is not met; `state.backend`.
   */
  const write = async (key: string, body: string, condition: Headers): Promise<string | undefined> => {
    const message = putOf(key, body, condition);
    const answer = await wire.send(message).catch((error: unknown) => {
      if (error instanceof Unanswered) return error;
      throw error;
    });
    const isLost = answer instanceof Unanswered;
    if (!isLost && isSuccess(answer)) return answer.etag;
    if (isLost || answer.doubtful || answer.status >= 500) {
      const there = await get(key).catch(() => undefined);
      if (there?.text === body) return there.etag;
    }
    const place = message.url.href;
    if (isLost) raise("state.unwritable", { place: `PUT ${place}`, reason: answer.message, consequence: undefined });
    if (answer.status === 412 || errorCode(answer) === "NoSuchKey")
      raise("state.lost_lock/changed", { place, hint: "Was the lock freed by hand, or does a writer not lock?" });
    return refuse("written", message, answer);
  };

  const remove = async (key: string, signal?: AbortSignal): Promise<void> => {
    const message = { method: "DELETE", url: urlOf(key) };
    const answer = await wire.ask(message, signal);
    if (!isSuccess(answer) && errorCode(answer) !== "NoSuchKey") refuse("freed", message, answer);
  };

  /**
   * Proves with an object of its own that the store respects conditions of writes. Once for each bucket and process.
   * @throws HostformError `state.backend`.
   */
  const probe = async (key: string, signal?: AbortSignal): Promise<void> => {
    if (probed.has(bucket.href)) return;
    const first = await put(key, "probe", {}, signal);
    if (!isSuccess(first.answer)) refuse("written", first.message, first.answer);
    const cases: [Headers, boolean][] = [
      [ABSENT, false],
      [OTHER, false],
      [{ "if-match": first.answer.etag ?? "" }, true],
    ];
    try {
      for (const [condition, isMet] of cases) {
        const { message, answer } = await put(key, "probe", condition, signal);
        const isRejected = answer.status === 412;
        if (isMet ? isSuccess(answer) || (isRejected && answer.doubtful) : isRejected) continue;
        if (answer.status >= 429 || answer.status === 403) refuse("written", message, answer);
        const [name = ""] = Object.keys(condition);
        raise("state.backend/conditional", { condition: name, exchange: describeExchange(message, answer) });
      }
    } finally {
      await remove(key).catch(() => undefined);
    }
    probed.add(bucket.href);
  };

  return { urlOf, get, put, write, remove, probe, mayHaveSent: wire.mayHaveSent };
}

export function refuse(doing: Doing, message: HttpRequest, answer: HttpResponse): never {
  return refuseAnswer(doing, message, answer, "s3");
}
