/** Sample of a kind behind the modelled Terraform. The suites for the provider use it. */
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

/** Frees the sample before the end of the test, for tests that start many samples. */
export async function closeMachine(machine: Machine): Promise<void> {
  if (!open.delete(machine)) return;
  await machine.close();
  await machine.sandbox.close();
}

/** Starts a sandbox that pays and provisions orders at once, and a machine for its account. */
export async function startMachine(options: SandboxOptions = {}): Promise<Machine> {
  const clock = testClock();
  const usual = { clock, rateLimit: 0, autoPay: true, provisioningSeconds: 0, ...profileOfRun() };
  const sandbox = await startSandbox({ ...usual, ...options });
  const machine = new Machine(sandbox, clock);
  open.add(machine);
  onTestFinished(() => closeMachine(machine));
  return machine;
}

/** Returns true for a warning about an undeclared suspension. */
export const saysSuspended = ({ summary }: Said): boolean =>
  /suspended, but (?:not|is no longer) declared/.test(summary);

/**
 * Returns true for a warning about a secret that another machine received and this machine cannot write. Each plan
 * repeats the warning until the object is replaced.
 */
export function saysLost({ summary, detail }: Said): boolean {
  return `${summary} ${detail}`.includes("is unknown, so it was not written to");
}

/** Sample of one kind, declared for Terraform under one address. */
export class Subject {
  readonly kind: Kind;
  readonly sample: Sample;
  readonly machine: Machine;
  readonly core: TerraformCore;
  /** Objects that existed before the test. */
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

  /** Attributes of the sample in HCL, with changed values. */
  config(over: JsonObject = {}): JsonObject {
    return { ...this.sample.implied, ...this.#inHcl({ ...this.sample.attributes, ...over }) };
  }

  /** Sample with another value of one attribute, and with the attributes that depend on it. */
  otherwise(name: string): JsonObject {
    return this.config({ ...this.sample.together?.[name], [name]: this.sample.others[name] ?? null });
  }

  declared(config: JsonObject = this.config(), createBeforeDestroy = false): Declarations {
    return { [this.address]: { type: this.kind.type, config, createBeforeDestroy } };
  }

  /** Applies a declaration, and fails if the apply fails. */
  async apply(declared: Declarations = this.declared(), options: RunOptions = {}): Promise<Outcome> {
    const outcome = await this.core.run(declared, options);
    expect(outcome.errors).toEqual([]);
    expect(outcome.killed).toBe(false);
    return outcome;
  }

  /**
   * Fails unless a plan has no change and no diagnostic, and sends no change.
   * @param secrets false: the plan may warn that a one-time secret is lost, until the object is replaced.
   * @param isOffline the host has suspended the object, so the plan must report it.
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

  /** Ids of the created objects, in order of creation. */
  made(): number[] {
    return this.#ids().filter((id) => !this.#before.has(id));
  }

  /** Returns the changing requests since the last call, for example `POST /webhooks`. */
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

  /** In YAML, a write-only value is declared by its source. */
  #inHcl(attributes: JsonObject): JsonObject {
    const secret = new Set(attributesOf(this.kind).flatMap(({ name, meta }) => (meta.writeOnly ? [name] : [])));
    const value = (source: Json) => (isObject(source) ? (this.sample.env?.[String(source.env)] ?? null) : source);
    return Object.fromEntries(
      Object.entries(attributes).map(([name, each]) => [name, secret.has(name) ? value(each) : each]),
    );
  }
}

/** Returns an unapplied sample whose dependencies exist. */
export async function subjectOf(kind: Kind, machine?: Machine): Promise<Subject> {
  const sample = await sampleOf(kind);
  const place = machine ?? (await startMachine());
  sample.prepare?.(place.sandbox.control);
  return new Subject(kind, sample, place);
}
