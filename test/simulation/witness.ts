import { type DeclaredService, type Declaration, serviceAddress } from "./declaration.ts";
import type { RunOptions } from "./machine.ts";
import type { Owners } from "./owners.ts";
import { phaseOf, type Service } from "./records.ts";
import type { Arrival, Deed, Server } from "./server.ts";

/** What tells a service from others without looking at any state: its domain, or for a server its plan. */
export const classOf = (service: { readonly domain?: string | null; readonly plan: number }) =>
  service.domain ?? `plan ${service.plan}`;

const classOfReal = ({ domain, plan }: Service) => classOf({ domain, plan: plan.plan_id });

/**
 * Watches the server, and says at once when something is done that nobody asked for, or done twice. Knows what was ever
 * declared, what the user decided, and nothing of the program.
 */
export class Witness {
  readonly violations: string[] = [];
  /** Ids of services that are gone and that the user agreed to order anew. */
  readonly #reordered = new Set<number>();
  readonly #orders = new Map<string, number>();
  /** Sendings of a registration that may have been carried out; and how many the user agreed to. */
  readonly #sent = new Map<string, number>();
  readonly #agreed = new Map<string, number>();
  readonly #runs: ReadonlyMap<string, RunOptions>;
  readonly #owners: Owners;

  constructor(runs: ReadonlyMap<string, RunOptions>, owners: Owners) {
    this.#runs = runs;
    this.#owners = owners;
  }

  /** The user has the gone services of these addresses (of all, when `addresses` is undefined) ordered anew. */
  agreeToReorder({ services }: Server, addresses: ReadonlySet<string> | undefined): void {
    for (const service of services) {
      const owner = service.terminated ? this.#owners.of(service) : undefined;
      if (owner !== undefined && (addresses?.has(serviceAddress(owner.name)) ?? true)) this.#reordered.add(service.id);
    }
  }

  /** The user looked, and the domain is not registered: it may be asked for once more. */
  agreeToRegister(domain: string): void {
    this.#agreed.set(domain, (this.#sent.get(domain) ?? 0) + 1);
  }

  /** A request left, and its sender cannot know that nothing came of it. */
  readonly sent = ({ method, path, body = "" }: Arrival): void => {
    if (method !== "POST" || path !== "/domains") return;
    const { domain } = JSON.parse(body) as { domain: string };
    const count = (this.#sent.get(domain) ?? 0) + 1;
    this.#sent.set(domain, count);
    if (count > (this.#agreed.get(domain) ?? 1)) this.#accuse(`the registration of ${domain} was sent ${count} times`);
  };

  /** The server acted. */
  see(deed: Deed, from: string, server: Server): void {
    const { declaration, reorder } = this.#runs.get(from) ?? {};
    if (declaration === undefined) return this.#accuse(`${deed.did} came from nobody (${from})`);
    switch (deed.did) {
      case "order":
        this.agreeToReorder(server, reorder);
        return this.#seeOrder(deed.service, declaration, server);
      case "replay":
        if (!deed.sameBody) this.#accuse(`the key ${deed.key} came with another body`);
        return;
      case "suspend":
      case "unsuspend":
        return this.#seeJob(deed.did, deed.service, declaration);
      case "password":
        if (this.#declaredIn(declaration, deed.service)?.passwordVersion === undefined)
          this.#accuse(`nobody asked for another password of service ${deed.service.id}`);
        return;
      case "grant": {
        const { service, email } = deed.grant;
        const same = server.grants.filter((one) => one.service === service && one.email === email);
        if (same.length > 1) this.#accuse(`${email} has ${same.length} grants of service ${service}`);
        return;
      }
      case "revoke":
        if (deed.grant.foreign) this.#accuse(`grant ${deed.grant.id} was somebody else's, and was revoked`);
        return;
      case "subscribe":
        return;
      case "unsubscribe":
        if (deed.webhook.foreign) this.#accuse(`webhook ${deed.webhook.id} was somebody else's, and was deleted`);
        return;
      case "account": {
        const same = server.accounts.filter(({ name }) => name === deed.account.name);
        if (same.length > 1) this.#accuse(`there are ${same.length} accounts ${deed.account.name}`);
        return;
      }
      case "migrate": {
        const { domain, order } = deed.migration;
        const same = server.migrations.filter((one) => one.domain === domain && one.order === order);
        if (same.length > 1) this.#accuse(`there are ${same.length} migration requests of ${domain}`);
        return;
      }
      case "register":
        return;
    }
  }

  #seeOrder(service: Service, { services }: Declaration, server: Server): void {
    const key = classOfReal(service);
    const count = (this.#orders.get(key) ?? 0) + 1;
    this.#orders.set(key, count);
    if (!services.some((one) => classOf(one) === key)) this.#accuse(`nobody declares ${key}, and it was ordered`);
    const wanted = this.#owners.all.filter((one) => classOf(one) === key).length;
    // A gone service under a new name is a new one, which nobody need agree to.
    const agreed = (one: Service) => this.#reordered.has(one.id) || (one.terminated && this.#owners.wasRenamed(one));
    const anew = server.services.filter((one) => classOfReal(one) === key && agreed(one)).length;
    if (count > wanted + anew) this.#accuse(`${key} was ordered ${count} times, and ${wanted + anew} were wanted`);
  }

  #seeJob(did: "suspend" | "unsuspend", service: Service, declaration: Declaration): void {
    const declared = this.#declaredIn(declaration, service);
    const retired = declared === undefined && this.#owners.of(service)?.policy === "suspend";
    const asked = declared?.suspended === (did === "suspend") || (did === "suspend" && retired);
    if (!asked) this.#accuse(`nobody asked to ${did} service ${service.id} (${classOfReal(service)})`);
  }

  #declaredIn({ services }: Declaration, service: Service): DeclaredService | undefined {
    const owner = this.#owners.of(service);
    return services.find(({ name }) => name === owner?.name);
  }

  #accuse(what: string): void {
    this.violations.push(what);
  }
}

/** Services of ours that are in use, or will be. */
export const ownLive = ({ services }: Server, now: number): Service[] =>
  services.filter((one) => !one.foreign && phaseOf(one, now) !== "terminated");
