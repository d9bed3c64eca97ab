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
import { type HttpBackendOptions, HttpStateLock, noLock } from "./http-lock.ts";
import {
  createWire,
  describeExchange,
  type HttpRequest,
  type HttpResponse,
  isHeld,
  isSuccess,
  nameOfUrl,
  refuseAnswer,
  Unanswered,
} from "./http-wire.ts";

/** Age of a text by which a write is decided, in milliseconds, and the readings that it takes at most. */
const FRESH_MS = 5_000;
const READINGS = 3;

/**
 * A state at a server that speaks the protocol of Terraform's `http` backend: GitLab, and many others. It is read by GET and
 * replaced by POST (`update_method`).
 */
export function createHttpBackend(options: HttpBackendOptions): StateBackend {
  const wire = createWire(options);
  const lock = options.lock && new HttpStateLock(options, options.lock, wire);
  const name = nameOfUrl(options.address);
  /** Text after the last read or write of this process. */
  let seen: { readonly text: string | undefined } | undefined;
  /** Text that the last write replaced; undefined before a write. */
  let replaced: { readonly text: string | undefined } | undefined;

  async function read(): Promise<string | undefined> {
    const text = await get(options.signal);
    seen = { text };
    return text;
  }

  /**
   * The state is read again before each write: one that is not what was seen last is not overwritten. A server refuses a
   * write under another lock's id; many accept one whose lock was freed, and some answer that they stored what they did not.
   */
  async function write(text: string, verify: Verify): Promise<void> {
    await verify();
    refuseOther(await getFresh().catch((error: unknown) => refuseUnwritten("GET", messageOf(error))));
    const url = new URL(options.address);
    if (lock?.id !== undefined) url.searchParams.set("ID", lock.id);
    const message: HttpRequest = { method: options.updateMethod, url, body: text };
    const answer = await wire.send(message).catch((error: unknown) => {
      if (error instanceof Unanswered) return error;
      throw error;
    });
    const isLost = answer instanceof Unanswered;
    if ((isLost || !isSuccess(answer)) && !(await arrived(text, answer))) {
      if (isLost) refuseUnwritten(message.method, answer.message);
      refuse(message, answer);
    }
    replaced = seen ?? { text: undefined };
    seen = { text };
  }

  /** Checks that the server stored the state. A missing answer is a warning, because the server accepted the write. */
  async function confirm(): Promise<void> {
    if (replaced === undefined) return;
    const warn = ({ message: reason }: HostformError) => options.warn(problem("state.backend/unconfirmed", { reason }));
    await get().then((there) => refuseOther(there), ifExplained(warn));
  }

  /** After an answer that was lost: is what was sent there? A server may refuse the second of two equal writes. */
  async function arrived(text: string, answer: HttpResponse | Unanswered): Promise<boolean> {
    if (!(answer instanceof Unanswered) && !answer.doubtful && answer.status < 500) return false;
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

  /** Reads the state again if more than 5 s passed meanwhile: another run may have written since a process that was stopped asked. */
  async function getFresh(): Promise<string | undefined> {
    for (let reading = 1; ; reading++) {
      const since = momentOf(options.clock);
      const there = await get();
      // A slow server takes as long each time.
      if (reading === READINGS || elapsedMs(since, options.clock) <= FRESH_MS) return there;
    }
  }

  /** @throws HostformError when the server has something else than was read or written last. */
  function refuseOther(there: string | undefined): void {
    if (seen === undefined || sameState(there, seen.text)) return;
    if (replaced !== undefined && sameState(there, replaced.text)) {
      raise("state.unwritable/lost", { place: name });
    }
    raise("state.lost_lock/changed", { place: name, hint: "Was the lock freed by hand, or is it missing?" });
  }

  /** The caller, who knows what was to be recorded, adds the consequence. */
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
  // A server may accept the id of a lock that was freed: only the text shows that nobody else has written.
  const prove = async () => refuseOther(await getFresh());
  const acquire: StateLock["acquire"] = async (request) => ({ ...(await own.acquire(request)), prove });
  return { text, lock: { acquire, takeOver: (id) => own.takeOver(id) } };
}

/** Servers may print the JSON that they were given in their own way. */
function sameState(a: string | undefined, b: string | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined) return false;
  const json = parsedJson(a);
  return json !== undefined && equal(json, parsedJson(b));
}
