import { equal, fail } from "../../model/index.ts";
import type { StateText } from "../file.ts";
import { decodeHolder } from "../holder.ts";
import { describeExchange, isHeld, isPage, isSuccess, refuseAnswer, unreachable } from "./http-answers.ts";
import type { HttpHold, HttpPlaceOptions } from "./http-options.ts";
import type { Answer, HttpWire, Message } from "./http-wire.ts";
import { nameOfUrl, Unanswered } from "./http-wire.ts";

/** The text of a state at a server, read by GET and replaced by POST (`update_method`). */
export class HttpStateText implements StateText {
  readonly name: string;
  readonly earlier = "The server may keep earlier versions, as GitLab does.";
  readonly #options: Pick<HttpPlaceOptions, "address" | "updateMethod" | "lock">;
  readonly #wire: HttpWire;
  readonly #hold: HttpHold;
  /** What was there when it was last read or written here. */
  #seen: { readonly text: string | undefined } | undefined;

  constructor(options: Pick<HttpPlaceOptions, "address" | "updateMethod" | "lock">, wire: HttpWire, hold: HttpHold) {
    this.name = nameOfUrl(options.address);
    this.#options = options;
    this.#wire = wire;
    this.#hold = hold;
  }

  /** Nothing is left behind at a server. */
  async sweep(): Promise<void> {}

  async read(): Promise<string | undefined> {
    const text = await this.#get();
    this.#seen = { text };
    return text;
  }

  /**
   * With a lock, the server itself refuses a write under another lock's id. Without one, and before the first write of a
   * new state, the state is read again: one that is not what was seen last is not overwritten.
   */
  async write(text: string, verify: () => void | Promise<void>): Promise<void> {
    await verify();
    // Also where nothing was there: an answer that was empty by mistake must not cost the state.
    if (this.#options.lock === undefined || this.#seen?.text === undefined) await this.#refuseForeignWrite();
    const message: Message = { method: this.#options.updateMethod, url: this.#writeUrl(), body: text };
    let answer: Answer | undefined;
    let reason: string | undefined;
    try {
      answer = await this.#wire.send(message);
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error;
      reason = error.message;
    }
    const accepted = answer !== undefined && isSuccess(answer) && !isPage(answer);
    if (!accepted && !(await this.#arrived(text, answer))) this.#refuse(message, answer, reason ?? "");
    this.#seen = { text };
  }

  /** After an answer that was lost: is what was sent there? A server may refuse the second of two equal writes. */
  async #arrived(text: string, answer: Answer | undefined): Promise<boolean> {
    if (answer !== undefined && !answer.doubtful && answer.status < 500) return false;
    try {
      return sameState(await this.#get(), text);
    } catch {
      return false;
    }
  }

  async #get(): Promise<string | undefined> {
    const message: Message = { method: "GET", url: this.#options.address };
    const answer = await this.#wire.send(message).catch((error: unknown) => unreachable(this.name, error));
    if (answer.status === 204 || answer.status === 404) return undefined;
    if (answer.status !== 200 || isPage(answer)) return refuseAnswer("read", message, answer);
    return answer.text === "" ? undefined : answer.text;
  }

  #writeUrl(): URL {
    const url = new URL(this.#options.address);
    if (this.#hold.id !== undefined) url.searchParams.set("ID", this.#hold.id);
    return url;
  }

  async #refuseForeignWrite(): Promise<void> {
    const message: Message = { method: "GET", url: this.#options.address };
    const there = await this.#get().catch((error: unknown) =>
      this.#refuse(message, undefined, error instanceof Error ? error.message : String(error)),
    );
    if (this.#seen === undefined || sameState(there, this.#seen.text)) return;
    fail("state.lost_lock", "The state was changed by another program while this process ran", {
      detail: `What ${this.name} holds is not what was read or written last.`,
      fix: "Run plan to see where things stand. Set `lock_address`, if the server has one.",
    });
  }

  /** The consequence for what was to be recorded is added by whoever knows it. */
  #refuse(message: Message, answer: Answer | undefined, reason: string): never {
    if (answer === undefined) {
      return fail("state.unwritable", "The state could not be written", {
        detail: `${message.method} ${this.name}: ${reason}`,
        fix: "Check the network and the server. Then run plan: what exists in the account is found there.",
      });
    }
    if (!isHeld(answer)) return refuseAnswer("written", message, answer);
    const holder = decodeHolder(answer.text);
    this.#hold.lost = describeExchange(message, answer);
    return fail("state.lost_lock", "The server does not accept the write: the lock on the state is another's", {
      detail:
        holder === undefined ? this.#hold.lost : `Now: lock ID ${holder.id}, ${holder.who}, since ${holder.since}.`,
      fix: "Run plan to see where things stand.",
    });
  }
}

/** Servers may print the JSON that they were given in their own way. */
function sameState(a: string | undefined, b: string | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined) return false;
  try {
    return equal(JSON.parse(a), JSON.parse(b));
  } catch {
    return false;
  }
}
