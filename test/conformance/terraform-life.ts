/** A kind's sample behind the modelled Terraform: what the suites for the provider stand on. */
import { expect, onTestFinished } from "vitest";
import type { Kind } from "../../src/core/kinds/index.ts";
import { attributesOf } from "../../src/core/lifecycle/index.ts";
import { isObject, type Json, type JsonObject } from "../../src/core/model/index.ts";
import type { SandboxOptions } from "../../src/sandbox/index.ts";
import { testClock } from "../support/clock.ts";
import { profileOfRun, startSandbox } from "../support/sandbox.ts";
import { type Declarations, type Outcome, type RunOptions, TerraformCore } from "../support/terraform-core.ts";
import { Machine } from "../support/terraform-core-process.ts";
import type { Said } from "../support/terraform-core-wire.ts";
import { type Sample, sampleOf } from "./sample.ts";

const open = new Set<Machine>();

/** Frees it before the test has ended, where one test starts many. */
export async function closeMachine(machine: Machine): Promise<void> {
  if (!open.delete(machine)) return;
  await machine.close();
  await machine.sandbox.close();
}

/** A sandbox in which orders are paid and provisioned at once, and a machine that works on its account. */
export async function startMachine(options: SandboxOptions = {}): Promise<Machine> {
  const clock = testClock();
  const usual = { clock, rateLimit: 0, autoPay: true, provisioningSeconds: 0, ...profileOfRun() };
  const sandbox = await startSandbox({ ...usual, ...options });
  const machine = new Machine(sandbox, clock);
  open.add(machine);
  onTestFinished(() => closeMachine(machine));
  return machine;
}

/** Returns true for a warning about a suspension that the declaration did not ask for. */
export const saysSuspended = ({ summary }: Said): boolean =>
  /suspended, but (?:not|is no longer) declared/.test(summary);

/** That a secret which somebody else got cannot be written out: each plan says so until the object is replaced. */
export function saysLost({ summary, detail }: Said): boolean {
  return `${summary} ${detail}`.includes("is unknown, so it was not written to");
}

/** One kind's sample, declared for Terraform under one address. */
export class Subject {
  readonly kind: Kind;
  readonly sample: Sample;
  readonly machine: Machine;
  readonly core: TerraformCore;
  /** Objects that were there before. */
  readonly #before: ReadonlySet<number>;

  constructor(kind: Kind, sample: Sample, machine: Machine) {
    this.kind = kind;
    this.sample = sample;
    this.machine = machine;
    this.core = new TerraformCore(machine);
    this.#before = new Set(this.#ids());
  }

  get address(): string {
    return `${this.kind.type}.sample`;
  }

  /** The sample's attributes as HCL has them, with some of them otherwise. */
  config(over: JsonObject = {}): JsonObject {
    return { ...this.sample.implied, ...this.#inHcl({ ...this.sample.attributes, ...over }) };
  }

  /** The sample with another value of one attribute, and whatever has to be declared together with it. */
  otherwise(name: string): JsonObject {
    return this.config({ ...this.sample.together?.[name], [name]: this.sample.others[name] ?? null });
  }

  declared(config: JsonObject = this.config(), createBeforeDestroy = false): Declarations {
    return { [this.address]: { type: this.kind.type, config, createBeforeDestroy } };
  }

  /** Applies a declaration; it must end well. */
  async apply(declared: Declarations = this.declared(), options: RunOptions = {}): Promise<Outcome> {
    const outcome = await this.core.run(declared, options);
    expect(outcome.errors).toEqual([]);
    expect(outcome.killed).toBe(false);
    return outcome;
  }

  /**
   * Fails unless a plan has nothing to do and nothing to say, and changes nothing.
   * @param secrets false: that the one-time secret is lost may be said, as it is until the object is replaced.
   * @param isOffline the host has suspended the object: a plan says so.
   */
  async expectNoChanges(declared: Declarations = this.declared(), secrets = true, isOffline = false): Promise<void> {
    const { current } = this.core.state;
    const { changes, said: all, refreshed } = await this.core.plan(declared);
    expect(all.some(saysSuspended)).toBe(isOffline);
    const said = all.filter((one) => !saysSuspended(one) && (secrets || !saysLost(one)));
    expect({ said, actions: changes.map(({ action }) => action) }).toEqual({ said: [], actions: ["no-op"] });
    expect([...refreshed.current.values()].map(({ attributes }) => attributes)).toEqual(
      [...current.values()].map(({ attributes }) => attributes),
    );
    expect(this.core.state.deposed.size).toBe(0);
    for (const { tainted } of current.values()) expect(tainted).toBe(false);
  }

  /** Ids of the objects that were made, the oldest first. */
  made(): number[] {
    return this.#ids().filter((id) => !this.#before.has(id));
  }

  /** `POST /webhooks` for each request since the last look that was to change something. */
  changesSent(): string[] {
    return this.sent().filter((line) => !line.startsWith("GET"));
  }

  sent(): string[] {
    const { control } = this.machine.sandbox;
    const lines = control.requests().map(({ method, path }) => `${method} ${path.replace("/api/v1", "")}`);
    control.clearRequests();
    return lines;
  }

  get importId(): string {
    const attributes = this.core.attributes(this.address);
    return this.kind.parent === undefined ? String(attributes.id) : `${attributes[this.kind.parent]}/${attributes.id}`;
  }

  #ids(): number[] {
    return this.machine.sandbox.control.list(this.sample.collection).map(({ id }) => id);
  }

  /** In YAML a write-only value is said by its source. */
  #inHcl(attributes: JsonObject): JsonObject {
    const secret = new Set(attributesOf(this.kind).flatMap(({ name, meta }) => (meta.writeOnly ? [name] : [])));
    const value = (source: Json) => (isObject(source) ? (this.sample.env?.[String(source.env)] ?? null) : source);
    return Object.fromEntries(
      Object.entries(attributes).map(([name, each]) => [name, secret.has(name) ? value(each) : each]),
    );
  }
}

/** A sample whose dependencies exist, not yet applied. */
export async function subjectOf(kind: Kind, machine?: Machine): Promise<Subject> {
  const sample = await sampleOf(kind);
  const place = machine ?? (await startMachine());
  sample.prepare?.(place.sandbox.control);
  return new Subject(kind, sample, place);
}
