import { equal, fail, type HostformError, ifExplained, messageOf, parsedJson } from "../../model/index.ts";
import { decodeHolder } from "../lock.ts";
import type { StateBackend } from "../opening.ts";
import { refuseLost, type StateText, type Verify } from "../state-file.ts";
import { type HttpBackendOptions, HttpStateLock, noLock } from "./http-lock.ts";
import {
  createWire,
  describeExchange,
  type HttpRequest,
  type HttpResponse,
  type HttpWire,
  isHeld,
  isSuccess,
  nameOfUrl,
  refuseAnswer,
  Unanswered,
} from "./http-wire.ts";

/** A state at a server that speaks the protocol of Terraform's `http` backend: GitLab, and many others. */
export function createHttpBackend(options: HttpBackendOptions): StateBackend {
  const wire = createWire(options);
  if (options.lock === undefined) return { text: new HttpStateText(options, wire, undefined), lock: noLock(options) };
  const lock = new HttpStateLock(options, options.lock, wire);
  return { text: new HttpStateText(options, wire, lock), lock };
}

/** The text of a state at a server, read by GET and replaced by POST (`update_method`). */
class HttpStateText implements StateText {
  readonly name: string;
  readonly earlier = "The server may keep earlier versions, as GitLab does.";
  readonly #options: HttpBackendOptions;
  readonly #wire: HttpWire;
  readonly #lock: HttpStateLock | undefined;
  /** What was there when it was last read or written here. */
  #seen: { readonly text: string | undefined } | undefined;
  /** What the last write replaced; undefined: nothing was written. */
  #replaced: { readonly text: string | undefined } | undefined;

  constructor(options: HttpBackendOptions, wire: HttpWire, lock: HttpStateLock | undefined) {
    this.name = nameOfUrl(options.address);
    this.#options = options;
    this.#wire = wire;
    this.#lock = lock;
  }

  async read(): Promise<string | undefined> {
    const text = await this.#get(this.#options.signal);
    this.#seen = { text };
    return text;
  }

  /**
   * The state is read again before each write: one that is not what was seen last is not overwritten. A server refuses a
   * write under another lock's id; many accept one whose lock was freed, and some answer that they stored what they did not.
   */
  async write(text: string, verify: Verify): Promise<void> {
    await verify();
    const there = await this.#get().catch((error: unknown) => this.#refuseUnwritten("GET", messageOf(error)));
    this.#refuseOther(there);
    const url = new URL(this.#options.address);
    if (this.#lock?.id !== undefined) url.searchParams.set("ID", this.#lock.id);
    const message: HttpRequest = { method: this.#options.updateMethod, url, body: text };
    const answer = await this.#wire.send(message).catch((error: unknown) => {
      if (error instanceof Unanswered) return error;
      throw error;
    });
    const isLost = answer instanceof Unanswered;
    if ((isLost || !isSuccess(answer)) && !(await this.#arrived(text, answer))) {
      if (isLost) this.#refuseUnwritten(message.method, answer.message);
      this.#refuse(message, answer);
    }
    this.#replaced = this.#seen ?? { text: undefined };
    this.#seen = { text };
  }

  /** Whether the server has what it said it stored. One that does not answer is warned of: the write itself was accepted. */
  async confirm(): Promise<void> {
    if (this.#replaced === undefined) return;
    const warn = ({ message: detail }: HostformError) =>
      this.#options.warn({
        severity: "warning",
        code: "state.backend",
        summary: "The server of the state could not confirm that it stored the state",
        detail,
        remedies: ["Run plan to see where things stand."],
      });
    await this.#get().then((there) => this.#refuseOther(there), ifExplained(warn));
  }

  async keep(text: string): Promise<void> {
    await this.#options.keep?.(text);
  }

  /** After an answer that was lost: is what was sent there? A server may refuse the second of two equal writes. */
  async #arrived(text: string, answer: HttpResponse | Unanswered): Promise<boolean> {
    if (!(answer instanceof Unanswered) && !answer.doubtful && answer.status < 500) return false;
    return this.#get().then(
      (there) => sameState(there, text),
      () => false,
    );
  }

  async #get(signal?: AbortSignal): Promise<string | undefined> {
    const message: HttpRequest = { method: "GET", url: this.#options.address };
    const answer = await this.#wire.ask(message, signal);
    if (answer.status === 204 || answer.status === 404) return undefined;
    if (answer.status !== 200 || !isSuccess(answer)) return refuseAnswer("read", message, answer);
    return answer.text === "" ? undefined : answer.text;
  }

  /** @throws HostformError when the server has something else than was read or written last. */
  #refuseOther(there: string | undefined): void {
    if (this.#seen === undefined || sameState(there, this.#seen.text)) return;
    if (this.#replaced !== undefined && sameState(there, this.#replaced.text)) {
      fail("state.unwritable", "The server reported that it stored the state, but did not", {
        detail: `${this.name} still holds what was there before the last write.`,
        remedies: ["Check the server: a full disk, a cache or a proxy may answer in its place. Then run plan."],
      });
    }
    const detail = `What ${this.name} holds is not what was read or written last. Was the lock freed by hand, or is there none?`;
    refuseLost("The state was changed by another program while this process ran", detail);
  }

  /** The caller, who knows what was to be recorded, adds the consequence. */
  #refuseUnwritten(method: string, reason: string): never {
    fail("state.unwritable", "The state could not be written", {
      detail: `${method} ${this.name}: ${reason}`,
      remedies: ["Check the network and the server. Then run plan: what exists in the account is found there."],
    });
  }

  #refuse(message: HttpRequest, answer: HttpResponse): never {
    if (!isHeld(answer)) return refuseAnswer("written", message, answer);
    const holder = decodeHolder(answer.text);
    const exchange = describeExchange(message, answer);
    if (this.#lock !== undefined) this.#lock.lost = exchange;
    const detail = holder === undefined ? exchange : `Now: lock ID ${holder.id}, ${holder.who}, since ${holder.since}.`;
    refuseLost("The server refuses the write: another process holds the state lock", detail);
  }
}

/** Servers may print the JSON that they were given in their own way. */
function sameState(a: string | undefined, b: string | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined) return false;
  const json = parsedJson(a);
  return json !== undefined && equal(json, parsedJson(b));
}
