import { idempotencyKey } from "../../src/core/lifecycle/index.ts";
import { type Declaration, type DeclaredService, PROJECT, serviceAddress } from "./declaration.ts";
import type { Service } from "./records.ts";

/** More generations than any history orders of one service. */
const GENERATIONS = [1, 2, 3, 4, 5, 6];

/**
 * Decides which declared service a real service is. Uses only the account: the domain, or for a server, the key of its
 * order. A user would use the times and invoices of the dashboard.
 */
export class Owners {
  /** All services ever declared, by their latest name. */
  readonly #declared = new Map<string, DeclaredService>();
  /** All names of each service, by its latest name. */
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

  /** Returns true if the service had another name. Another run may not know the state entry under that name. */
  wasRenamed(service: Service): boolean {
    return (this.#names.get(this.of(service)?.name ?? "")?.length ?? 1) > 1;
  }

  /** Returns the declared service of a real service, or undefined if no declaration contained it. */
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
