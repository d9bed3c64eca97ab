import type { Created, Kind, Remote, Step } from "../kinds/kind.ts";
import {
  type Change,
  type Diagnostic,
  fail,
  type Invoice,
  isReplacement,
  type JsonObject,
  type PrivateMark,
  type ValueObject,
} from "../model/index.ts";
import { isNotFound } from "./account.ts";
import { createdAttributes, inPlaceAims, plannedAttributes, recordedOnly, without } from "./aims.ts";
import { refreshed } from "./attributes.ts";
import type { ApplyContext } from "./context.ts";
import { create } from "./create.ts";
import { parentOf } from "./read.ts";

/** What came of a change. */
export interface Applied {
  /** The attributes afterwards; null when the resource left the state. */
  readonly attributes: JsonObject | null;
  readonly diagnostics: readonly Diagnostic[];
  readonly invoice?: Invoice;
  readonly awaiting?: "payment" | "provisioning" | "job";
}

/**
 * Applies one change. Each request's result is recorded before the next is sent, so a failure in between loses nothing.
 * @param config the declared attributes, evaluated; write-only values too. Null for removals.
 * @throws HostformError; what was done until then is recorded.
 */
export async function applyChange(
  kind: Kind,
  change: Change,
  config: ValueObject | null,
  context: ApplyContext,
): Promise<Applied> {
  const work = new Work(kind, change, (config ?? {}) as JsonObject, context);
  if (change.removal !== undefined) return work.remove(change.removal);
  if (change.actions[0] === "no-op") return work.record();
  if (isReplacement(change))
    return change.actions[0] === "create" ? work.replaceCreateFirst() : work.replaceDeleteFirst();
  return change.actions[0] === "create" ? work.create() : work.update();
}

/** One change under way: the attributes as they are after the last answer. */
class Work {
  readonly #kind: Kind;
  readonly #change: Change;
  readonly #config: JsonObject;
  readonly #context: ApplyContext;
  readonly #diagnostics: Diagnostic[] = [];
  #awaiting: Applied["awaiting"];
  #attributes: JsonObject;
  #mark: PrivateMark;

  constructor(kind: Kind, change: Change, config: JsonObject, context: ApplyContext) {
    this.#kind = kind;
    this.#change = change;
    this.#config = config;
    this.#context = context;
    this.#attributes = change.before ?? {};
    const { pending: _, ...mark } = change.private;
    this.#mark = mark;
  }

  /** Only the state changes (an import, or attributes that concern hostform alone). */
  async record(): Promise<Applied> {
    this.#attributes = {
      ...this.#attributes,
      ...recordedOnly(this.#kind, this.#change, this.#config, this.#attributes),
    };
    await this.#save();
    return this.#end();
  }

  async create(): Promise<Applied> {
    const made = await this.#create();
    await this.#deleteDeposed();
    // A status that is not understood is never acted upon: what has to wait for a live object waits.
    const { phase = "live" } = made;
    const later = this.#kind.deferred?.(phase === "unknown" ? "pending" : phase) ?? [];
    const wanted = { ...this.#attributes, ...without(this.#config, later) };
    if (this.#kind.update !== undefined && !made.replayed)
      await this.#steps(this.#kind.update(this.#attributes, wanted, this.#config));
    if (made.phase === "pending") this.#awaiting ??= made.invoice?.paid ? "provisioning" : "payment";
    return { ...this.#end(), ...(made.invoice && { invoice: made.invoice }) };
  }

  async update(): Promise<Applied> {
    await this.#deleteDeposed();
    await this.#steps(
      this.#kind.update?.(
        this.#attributes,
        inPlaceAims(this.#kind, this.#change, this.#config, this.#attributes),
        this.#config,
      ) ?? [],
    );
    this.#attributes = {
      ...this.#attributes,
      ...recordedOnly(this.#kind, this.#change, this.#config, this.#attributes),
    };
    await this.#save();
    return this.#end();
  }

  async replaceCreateFirst(): Promise<Applied> {
    // There is room for one: what an earlier replacement left behind goes before it is forgotten.
    await this.#deleteDeposed();
    this.#mark = { ...this.#mark, deposed: this.#attributes };
    await this.#create();
    await this.#deleteDeposed();
    return this.#end();
  }

  async replaceDeleteFirst(): Promise<Applied> {
    await this.#delete(this.#attributes);
    await this.#context.drop(this.#change.address);
    await this.#create();
    return this.#end();
  }

  async remove(how: NonNullable<Change["removal"]>): Promise<Applied> {
    if (how === "suspend") await this.#steps(this.#kind.retire?.(this.#attributes) ?? []);
    if (how === "delete") {
      if (this.#mark.deposed !== undefined) await this.#delete(this.#mark.deposed);
      await this.#delete(this.#attributes);
    }
    // Suspended only when the job is done: until then it is not forgotten, and the next run looks again.
    if (this.#awaiting === "job") return this.#end();
    await this.#context.drop(this.#change.address);
    return { ...this.#end(), attributes: null };
  }

  async #create(): Promise<Created> {
    const planned = plannedAttributes(this.#kind, this.#change, this.#config);
    const made = await create(this.#kind, this.#change, planned, {
      ...this.#context,
      markPending: async (pending) => {
        this.#attributes = planned;
        await this.#save({ ...this.#mark, pending });
      },
      // A generation outlives a refused order: the next one must not repeat the key of the service that is gone.
      unmark: (spent = this.#mark.generation) =>
        spent === undefined
          ? this.#context.drop(this.#change.address)
          : this.#save({ ...this.#mark, generation: spent }),
    });
    this.#attributes = createdAttributes(this.#kind, planned, made);
    // Durable before anything else happens: from here on the object is known, whatever fails next.
    await this.#save();
    if (made.warning !== undefined) this.#diagnostics.push({ ...made.warning, address: this.#change.address });
    return made;
  }

  /** The requests of an in-place change, one after the other; each answer is recorded before the next is sent. */
  async #steps(steps: readonly Step[]): Promise<void> {
    const { writer } = this.#context;
    for (const step of steps) {
      const answer = await writer.perform(step.mutation);
      const { attributes, warning } = step.accept(answer);
      this.#attributes = { ...this.#attributes, ...attributes };
      if (warning !== undefined) this.#diagnostics.push({ ...warning, address: this.#change.address });
      await this.#save();
      if (step.settled !== undefined) await this.#wait(step.settled.bind(step));
    }
  }

  async #wait(done: (remote: Remote) => boolean): Promise<void> {
    const { address } = this.#change;
    const remote = await this.#context.wait(this.#kind, address, String(this.#attributes.id), this.#parent(), done);
    if (remote === undefined) this.#awaiting = "job";
    else this.#attributes = refreshed(this.#kind, this.#attributes, remote);
    await this.#save();
  }

  async #delete(attributes: JsonObject): Promise<void> {
    if (this.#kind.remove === undefined) fail("internal", `${this.#kind.type} has no request that removes it`);
    try {
      await this.#context.writer.perform(this.#kind.remove(attributes));
    } catch (error) {
      if (!isNotFound(error)) throw error; // gone already: what was wanted
    }
  }

  /** Deletes the object that this one replaced, if it is still there. */
  async #deleteDeposed(): Promise<void> {
    const { deposed, ...rest } = this.#mark;
    if (deposed === undefined) return;
    await this.#delete(deposed);
    this.#mark = rest;
    await this.#save();
  }

  #parent(): string | undefined {
    return parentOf(this.#kind, this.#attributes);
  }

  async #save(mark: PrivateMark = this.#mark): Promise<void> {
    const { address, provider, dependsOn } = this.#change;
    await this.#context.save({
      address,
      provider,
      schemaVersion: this.#kind.schemaVersion,
      attributes: this.#attributes,
      sensitive: this.#change.sensitive,
      private: mark,
      dependencies: dependsOn,
    });
  }

  #end(): Applied {
    return {
      attributes: this.#attributes,
      diagnostics: this.#diagnostics,
      ...(this.#awaiting && { awaiting: this.#awaiting }),
    };
  }
}
