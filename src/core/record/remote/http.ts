import { hash } from "node:crypto";
import { problem, raise } from "../../messages/index.ts";
import {
  elapsedMs,
  equal,
  type HostformError,
  ifExplained,
  messageOf,
  momentOf,
  parsedJson,
} from "../../model/index.ts";
import { decodeHolder, type StateLock } from "../lock.ts";
import type { StateBackend } from "../opening.ts";
import type { Verify } from "../state-file.ts";
import {
  createWire,
  describeExchange,
  type HttpRequest,
  type HttpResponse,
  type HttpWire,
  isHeld,
  isSuccess,
  isUnclear,
  JSON_BODY,
  nameOfUrl,
  type Protocol,
  refuseAnswer,
  Unanswered,
  type WireOptions,
} from "./http-wire.ts";
import { type LockDoor, ServerLock, type ServerLockOptions } from "./server-lock.ts";

export interface HttpLock {
  readonly address: URL;
  /** Request method, such as `LOCK`. */
  readonly method: string;
  readonly unlockAddress: URL;
  readonly unlockMethod: string;
}

export interface HttpBackendOptions extends WireOptions, ServerLockOptions {
  readonly address: URL;
  /** Request method of a write, such as `POST`. */
  readonly updateMethod: string;
  readonly credentials: { readonly username: string; readonly password: string } | undefined;
  readonly lock: HttpLock | undefined;
  /** True if a run may write without a lock. */
  readonly withoutLock: boolean;
}

/** Maximum duration of the read before a write, in milliseconds. `READINGS`: maximum number of such reads. */
const FRESH_MS = 5_000;
const READINGS = 3;

/**
 * Creates the backend of a state at a server with the protocol of Terraform's `http` backend, such as GitLab. GET reads the state, and
 * POST (`update_method`) replaces it.
 */
export function createHttpBackend(options: HttpBackendOptions): StateBackend {
  const wire = createWire(options, protocolOf(options));
  const lock = options.lock && new ServerLock(options, doorOf(options.lock, wire));
  const name = nameOfUrl(options.address);
  /** Text after the last read or write of this process. */
  let seen: { readonly text: string | undefined } | undefined;
  /** Text before the last write; undefined before the first write. */
  let replaced: { readonly text: string | undefined } | undefined;

  async function read(): Promise<string | undefined> {
    const text = await get(options.signal);
    seen = { text };
    return text;
  }

  /**
   * Writes the state. First reads the state again, and does not overwrite a state that changed since the last read or write. Servers
   * reject a write with the id of another lock. However, many accept a write with a freed lock, and some report success without a
   * write.
   */
  async function write(text: string, verify: Verify): Promise<void> {
    await verify();
    refuseOther(await getFresh().catch((error: unknown) => refuseUnwritten("GET", messageOf(error))));
    const url = new URL(options.address);
    if (lock?.id !== undefined) url.searchParams.set("ID", lock.id);
    const message: HttpRequest = { method: options.updateMethod, url, body: text };
    const answer = await wire.send(message);
    const isLost = answer instanceof Unanswered;
    if ((isLost || !isSuccess(answer)) && !(await arrived(text, answer))) {
      if (isLost) refuseUnwritten(message.method, answer.message);
      refuse(message, answer);
    }
    replaced = seen ?? { text: undefined };
    seen = { text };
  }

  /** Checks that the server stored the state. A missing response is only a warning, because the server accepted the write. */
  async function confirm(): Promise<void> {
    if (replaced === undefined) return;
    const warn = ({ message: reason }: HostformError) => options.warn(problem("state.backend/unconfirmed", { reason }));
    await get().then((there) => refuseOther(there), ifExplained(warn));
  }

  /** Returns true if the state arrived despite a lost response. A server may reject the second of two equal writes. */
  async function arrived(text: string, answer: HttpResponse | Unanswered): Promise<boolean> {
    if (!isUnclear(answer)) return false;
    return get().then(
      (there) => sameState(there, text),
      () => false,
    );
  }

  async function get(signal?: AbortSignal): Promise<string | undefined> {
    const message: HttpRequest = { method: "GET", url: options.address };
    const answer = await wire.ask(message, signal);
    if (answer.status === 204 || answer.status === 404) return undefined;
    if (answer.status !== 200 || !isSuccess(answer)) return refuseAnswer("read", message, answer);
    return answer.text === "" ? undefined : answer.text;
  }

  /** Reads the state. Reads again if the read took more than 5 s: while this process was suspended, another run may have written. */
  async function getFresh(): Promise<string | undefined> {
    for (let reading = 1; ; reading++) {
      const since = momentOf(options.clock);
      const there = await get();
      // A slow server would take as long again.
      if (reading === READINGS || elapsedMs(since, options.clock) <= FRESH_MS) return there;
    }
  }

  /** Compares the state at the server with the last read or write of this process. @throws HostformError if they differ. */
  function refuseOther(there: string | undefined): void {
    if (seen === undefined || sameState(there, seen.text)) return;
    if (replaced !== undefined && sameState(there, replaced.text)) {
      raise("state.unwritable/lost", { place: name });
    }
    raise("state.lost_lock/changed", { place: name, hint: "Was the lock freed by hand, or is it missing?" });
  }

  /** Throws `state.unwritable` without a consequence. The caller knows the lost changes, and adds the consequence. */
  function refuseUnwritten(method: string, reason: string): never {
    raise("state.unwritable", { place: `${method} ${name}`, reason, consequence: undefined });
  }

  function refuse(message: HttpRequest, answer: HttpResponse): never {
    if (!isHeld(answer)) return refuseAnswer("written", message, answer);
    const holder = decodeHolder(answer.text);
    const exchange = describeExchange(message, answer);
    if (lock !== undefined) lock.lost = exchange;
    const detail = holder === undefined ? exchange : `Now: lock ID ${holder.id}, ${holder.who}, since ${holder.since}.`;
    raise("state.lost_lock/rejected", { holder: detail });
  }

  const earlier = "The server may keep earlier versions, as GitLab does.";
  const text = { name, earlier, read, write, confirm, keep: async (kept: string) => options.keep?.(kept) };
  const own: StateLock = lock ?? noLock(options);
  // A server may accept the id of a freed lock. Only the text proves that no other run has written.
  const prove = async () => refuseOther(await getFresh());
  const acquire: StateLock["acquire"] = async (request) => ({ ...(await own.acquire(request)), prove });
  return { text, lock: { acquire, takeOver: (id) => own.takeOver(id) } };
}

/** Compares two states as JSON, because a server may format the JSON differently. */
function sameState(a: string | undefined, b: string | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined) return false;
  const json = parsedJson(a);
  return json !== undefined && equal(json, parsedJson(b));
}

function protocolOf({ credentials: given }: HttpBackendOptions): Protocol {
  const pair = given && Buffer.from(`${given.username}:${given.password}`, "utf8").toString("base64");
  const authorization: Record<string, string> = pair === undefined ? {} : { authorization: `Basic ${pair}` };
  return {
    // Terraform sends this header with a body. The protocol requires MD5, which protects only against accidents.
    headersOf: ({ body }) => ({
      ...authorization,
      ...(body !== undefined && { ...JSON_BODY, "content-md5": hash("md5", body, "base64") }),
    }),
  };
}

function doorOf({ address, method, unlockAddress, unlockMethod }: HttpLock, wire: HttpWire): LockDoor {
  return {
    take: async (body, signal) => {
      const message = { method, url: address, body };
      const answer = await wire.ask(message, signal);
      const isTaken = isSuccess(answer);
      if (!isTaken && !isHeld(answer)) return refuseAnswer("locked", message, answer);
      return { isTaken, notice: answer.text, exchange: describeExchange(message, answer) };
    },
    free: async (body, signal) => {
      const message = { method: unlockMethod, url: unlockAddress, body };
      const answer = await wire.ask(message, signal);
      // The first of two attempts may have freed the lock, so that the second attempt found no lock.
      if (isSuccess(answer) || (answer.doubtful && answer.status < 500)) return;
      refuseAnswer("freed", message, answer);
    },
    mayHaveSent: wire.mayHaveSent,
  };
}

/** Creates the replacement for the lock of a backend without lock settings. */
function noLock({ address, withoutLock }: HttpBackendOptions): StateLock {
  const refuse = (): never => raise("state.backend/no_lock", { place: nameOfUrl(address) });
  const held = { verify: () => undefined, release: () => undefined };
  return { acquire: async () => (withoutLock ? held : refuse()), takeOver: async () => refuse() };
}
