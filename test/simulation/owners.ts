import { idempotencyKey } from "../../src/core/lifecycle/index.ts";
import { type Declaration, type DeclaredService, PROJECT, serviceAddress } from "./declaration.ts";
import type { Service } from "./records.ts";

/** More often than anybody orders one service again. */
const GENERATIONS = [1, 2, 3, 4, 5, 6];

/**
 * Whose each service is, from what the account shows alone: by its domain, or for a server, which looks like any other
 * of its plan, by the key of its order. What a user reads off the dashboard's times and invoices.
 */
export class Owners {
  /** Services ever declared, by their latest name. */
  readonly #declared = new Map<string, DeclaredService>();
  /** Every name that each has had. */
  readonly #names = new Map<string, readonly string[]>();

  declares({ services }: Declaration): void {
    for (const service of services) {
      this.#declared.set(service.name, service);
      if (!this.#names.has(service.name)) this.#names.set(service.name, [service.name]);
    }
  }

  renames(from: string, to: string): void {
    const service = this.#declared.get(from);
    this.#declared.delete(from);
    if (service !== undefined) this.#declared.set(to, { ...service, name: to });
    this.#names.set(to, [...(this.#names.get(from) ?? []), to]);
  }

  get all(): readonly DeclaredService[] {
    return [...this.#declared.values()];
  }

  /** Whether it has had another name: then what is recorded under that may be unknown to those who ask. */
  wasRenamed(service: Service): boolean {
    return (this.#names.get(this.of(service)?.name ?? "")?.length ?? 1) > 1;
  }

  /** The declared service that a real one is; undefined for what nobody ever declared. */
  of(service: Service): DeclaredService | undefined {
    if (service.foreign) return undefined;
    return this.all.find((declared) =>
      service.domain === null ? this.#isKeyOf(service.key, declared) : service.domain === declared.domain,
    );
  }

  #isKeyOf(key: string | null, { name, reference }: DeclaredService): boolean {
    const orders = reference === undefined ? (this.#names.get(name) ?? []).map(serviceAddress) : [reference];
    return orders.some((order) => GENERATIONS.some((generation) => idempotencyKey(PROJECT, order, generation) === key));
  }
}
