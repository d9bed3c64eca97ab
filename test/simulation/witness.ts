import { type Declaration, type DeclaredService, serviceAddress } from "./declaration.ts";
import type { RunOptions } from "./machine.ts";
import type { Owners } from "./owners.ts";
import { phaseOf, type Service } from "./records.ts";
import type { Deed, Server } from "./server.ts";
import type { Arrival } from "./wire.ts";

/** Returns the identity of a service that needs no state: its domain, or the plan for a server. */
export const classOf = (service: { readonly domain?: string | null; readonly plan: number }) =>
  service.domain ?? `plan ${service.plan}`;

const classOfReal = ({ domain, plan }: Service) => classOf({ domain, plan: plan.plan_id });

/**
 * Watches the server. Immediately reports an effect that no declaration requested, or that occurs twice. Knows all
 * declarations and decisions of the user, and nothing of the program.
 */
export class Witness {
  readonly violations: string[] = [];
  /** Ids of terminated services that the user agreed to order again. */
  readonly #reordered = new Set<number>();
  readonly #orders = new Map<string, number>();
  /** Number of sent registrations that may have succeeded, and number that the user agreed to, by domain. */
  readonly #sent = new Map<string, number>();
  readonly #agreed = new Map<string, number>();
  readonly #runs: ReadonlyMap<string, RunOptions>;
  readonly #owners: Owners;

  constructor(runs: ReadonlyMap<string, RunOptions>, owners: Owners) {
    this.#runs = runs;
    this.#owners = owners;
  }

  /**
   * The user agrees to order the terminated services of these addresses again, or all terminated services if
   * `addresses` is undefined.
   */
  agreeToReorder({ services }: Server, addresses: ReadonlySet<string> | undefined): void {
    for (const service of services) {
      const owner = service.terminated ? this.#owners.of(service) : undefined;
      if (owner !== undefined && (addresses?.has(serviceAddress(owner.name)) ?? true)) this.#reordered.add(service.id);
    }
  }

  /** The user checked that the domain is not registered, and agrees to one more registration. */
  agreeToRegister(domain: string): void {
    this.#agreed.set(domain, (this.#sent.get(domain) ?? 0) + 1);
  }

  /** Called for a sent request whose sender cannot know that it had no effect. */
  readonly sent = ({ method, path, body = "" }: Arrival): void => {
    if (method !== "POST" || path !== "/domains") return;
    const { domain } = JSON.parse(body) as { domain: string };
    const count = (this.#sent.get(domain) ?? 0) + 1;
    this.#sent.set(domain, count);
    if (count > (this.#agreed.get(domain) ?? 1)) this.#accuse(`the registration of ${domain} was sent ${count} times`);
  };

  /** Checks an effect of the server. */
  see(deed: Deed, from: string, server: Server): void {
    const run = this.#runs.get(from);
    if (run === undefined) this.#accuse(`${deed.did} came from nobody (${from})`);
    else this.#accuse(this.#objection(deed, run, server));
  }

  /**
   * Returns the violation by an effect, or undefined if a declaration requested the effect and it is the first of its
   * kind.
   */
  #objection(deed: Deed, { declaration, reorder, knowsNothing }: RunOptions, server: Server): string | undefined {
    switch (deed.did) {
      case "order":
        this.agreeToReorder(server, knowsNothing ? undefined : reorder);
        return this.#toOrder(deed.service, declaration, server);
      case "replay":
        return deed.sameBody ? undefined : `the key ${deed.key} came with another body`;
      case "suspend":
      case "unsuspend":
        return this.#toJob(deed.did, deed.service, declaration);
      case "password":
        if (this.#declaredIn(declaration, deed.service)?.passwordVersion !== undefined) return undefined;
        return `nobody asked for another password of service ${deed.service.id}`;
      case "grant": {
        const { service, email } = deed.grant;
        const same = server.grants.filter((one) => one.service === service && one.email === email);
        return same.length > 1 ? `${email} has ${same.length} grants of service ${service}` : undefined;
      }
      case "revoke":
        return deed.grant.foreign ? `grant ${deed.grant.id} was somebody else's, and was revoked` : undefined;
      case "unsubscribe":
        return deed.webhook.foreign ? `webhook ${deed.webhook.id} was somebody else's, and was deleted` : undefined;
      case "account": {
        const same = server.accounts.filter(({ name }) => name === deed.account.name);
        return same.length > 1 ? `there are ${same.length} accounts ${deed.account.name}` : undefined;
      }
      case "migrate": {
        const { domain, order } = deed.migration;
        const same = server.migrations.filter((one) => one.domain === domain && one.order === order);
        return same.length > 1 ? `there are ${same.length} migration requests of ${domain}` : undefined;
      }
      case "subscribe": // during a replacement, two webhooks exist
      case "register": // `sent` counts registrations
        return undefined;
    }
  }

  #toOrder(service: Service, { services }: Declaration, server: Server): string | undefined {
    const key = classOfReal(service);
    const count = (this.#orders.get(key) ?? 0) + 1;
    this.#orders.set(key, count);
    if (!services.some((one) => classOf(one) === key)) return `nobody declares ${key}, and it was ordered`;
    const wanted = this.#owners.all.filter((one) => classOf(one) === key).length;
    // A terminated service under a new name counts as a new service, without the user's agreement.
    const agreed = (one: Service) => this.#reordered.has(one.id) || (one.terminated && this.#owners.wasRenamed(one));
    const reordered = server.services.filter((one) => classOfReal(one) === key && agreed(one)).length;
    return count > wanted + reordered
      ? `${key} was ordered ${count} times, and ${wanted + reordered} were wanted`
      : undefined;
  }

  #toJob(did: "suspend" | "unsuspend", service: Service, declaration: Declaration): string | undefined {
    const declared = this.#declaredIn(declaration, service);
    const retired = declared === undefined && this.#owners.of(service)?.policy === "suspend";
    const asked = declared?.suspended === (did === "suspend") || (did === "suspend" && retired);
    return asked ? undefined : `nobody asked to ${did} service ${service.id} (${classOfReal(service)})`;
  }

  #declaredIn({ services }: Declaration, service: Service): DeclaredService | undefined {
    const owner = this.#owners.of(service);
    return services.find(({ name }) => name === owner?.name);
  }

  #accuse(what: string | undefined): void {
    if (what !== undefined) this.violations.push(what);
  }
}

/** Returns hostform's own services that are in use, or will be. */
export const ownLive = ({ services }: Server, now: number): Service[] =>
  services.filter((one) => !one.foreign && phaseOf(one, now) !== "terminated");
