import { kinds, namedBy } from "../../src/core/kinds/index.ts";
import { withdraw } from "../../src/core/lifecycle/resolve.ts";
import { conditionWarning, type Diagnostic, parseAddress, resourceOf, type State } from "../../src/core/model/index.ts";
import { type Declaration, serviceAddress } from "./declaration.ts";
import type { Machine, RunEnd } from "./machine.ts";
import type { Owners } from "./owners.ts";
import type { Server } from "./server.ts";
import { ownLive, type Witness } from "./witness.ts";
import type { World } from "./world.ts";

/**
 * User of a history. Reads the output of the program and the real objects of the account, and makes the decisions of a
 * user: adopts objects, re-orders services, and decides about orders whose response was lost.
 */
export class User {
  /** Ids to adopt (`import:` in the blocks), by address. */
  readonly imports = new Map<string, string>();
  /** Addresses for `--replace` in the runs until the next decision. */
  readonly replace = new Set<string>();
  /** Addresses for `--reorder` and `--order-anyway` in the next runs. Each address stays until the run orders it. */
  readonly reorder = new Set<string>();
  readonly orderAnyway = new Set<string>();
  /** True after the state was lost, edited or bypassed, or after a rename that the state may lack. */
  hasMeddled = false;
  readonly #declarations: Declaration[] = [];
  /** New name -> old name of each renamed service. */
  readonly #renamed = new Map<string, string>();
  readonly #world: World;
  readonly #server: Server;
  readonly #machine: Machine;
  readonly #witness: Witness;
  readonly #owners: Owners;

  constructor(world: World, server: Server, machine: Machine, witness: Witness, owners: Owners) {
    this.#world = world;
    this.#server = server;
    this.#machine = machine;
    this.#witness = witness;
    this.#owners = owners;
  }

  declares(declaration: Declaration): void {
    this.replace.clear();
    this.#declarations.push(declaration);
    this.#owners.declares(declaration);
  }

  /** Renames a service. The state receives the new name immediately, or when the program requests it. */
  renames(from: string, to: string): void {
    this.hasMeddled = true;
    this.#renamed.set(to, from);
    this.#owners.renames(from, to);
    for (const [address, id] of this.imports) {
      const renamed = address.replace(new RegExp(`^(hosting_\\w+\\.)${from}(?=$|\\[)`), `$1${to}`);
      if (renamed === address || address.startsWith("hosting_webhook.")) continue;
      this.imports.delete(address);
      this.imports.set(renamed, id);
    }
  }

  /**
   * Runs `state mv` for every service that the state contains under its old name.
   * @returns True if at least one service was moved.
   */
  async #tellsNames(state: State): Promise<boolean> {
    const isDueIn = (state: State, [from, to]: readonly [string, string]) => {
      const known = new Set([...state.resources.keys()].map(resourceOf));
      return known.has(from) && !known.has(to);
    };
    const moves = [...this.#renamed].flatMap(([to, from]) =>
      ["hosting_service", "hosting_grant"].map((type) => [`${type}.${from}`, `${type}.${to}`] as const),
    );
    const due = moves.filter((move) => isDueIn(state, move));
    for (const move of due) {
      const [from, to] = move;
      this.#world.note(`user: state mv ${from} ${to}`);
      // Another run may have changed the state since this run ended.
      await this.#machine.withState(async (store) => isDueIn(store.state, move) && store.move([{ from, to }]));
    }
    return due.length > 0;
  }

  /**
   * Deletes the state. No endpoint lists domains, so the user checks the dashboard: the next runs import an existing
   * registration, and may send a missing registration again.
   */
  losesState(): void {
    this.hasMeddled = true;
    this.#machine.loseState();
    this.imports.clear();
    this.withdraws();
    this.#witness.agreeToReorder(this.#server, undefined);
    for (const { name, domain } of this.#declarations.at(-1)?.domains ?? []) {
      const found = this.#server.registrations.find((one) => one.domain === domain);
      if (found === undefined) this.#witness.agreeToRegister(domain);
      else this.imports.set(`hosting_domain.${name}`, String(found.id));
    }
  }

  /** Clears the flags, because the situation has changed. */
  withdraws(): void {
    this.replace.clear();
    this.reorder.clear();
    this.orderAnyway.clear();
  }

  async decide(end: RunEnd): Promise<void> {
    if (end.end !== "planned" && end.end !== "applied") return;
    const outcomes = end.end === "applied" ? end.result.outcomes.flatMap(({ diagnostics }) => diagnostics) : [];
    for (const flag of [this.reorder, this.orderAnyway])
      for (const address of flag)
        if (this.#isLive(end.state.resources.get(address)?.attributes.id)) flag.delete(address);
    this.replace.clear();
    if (await this.#tellsNames(end.state)) return;
    const attention = (end.plan.conditions ?? []).map(conditionWarning);
    for (const diagnostic of [...attention, ...end.plan.diagnostics, ...outcomes])
      await this.#react(diagnostic, end.state);
  }

  async #react({ code, address, summary }: Diagnostic, state: State): Promise<void> {
    if (address === undefined) return;
    switch (code) {
      case "plan.gone":
      case "condition.gone":
      case "apply.replayed":
        this.#witness.agreeToReorder(this.#server, new Set([address]));
        // The object to adopt no longer exists, so the block must not name its id.
        if (this.imports.delete(address) && state.resources.get(address) === undefined) return;
        if (code === "apply.replayed" && state.resources.get(address)?.attributes.id != null) return;
        this.reorder.add(address);
        return;
      case "condition.own_form":
        // Two changes in the dashboard look like a host that does not store the declared value.
        if (address.startsWith("hosting_grant.")) this.replace.add(address);
        else this.#suspendsByHand(address, state);
        return;
      case "plan.unfit":
        this.reorder.delete(address);
        return;
      case "plan.exists":
      case "plan.lookalike":
      case "plan.pending": {
        const id = this.#find(address, state);
        this.#world.note(`user: ${address} [${code}] is ${id ?? "not there"}`);
        if (id === undefined && code === "plan.exists" && address.startsWith("hosting_domain."))
          this.#registers(address);
        else if (id !== undefined) await this.#adopt(address, id, state);
        else if (code === "plan.lookalike") this.orderAnyway.add(address);
        else if (code === "plan.pending") await this.#absent(address, state);
        return;
      }
      case "secret.output":
        // A file contains the secret of an earlier object, because the state of that object was lost.
        if (!/ (?:already holds|holds another) /.test(summary)) return;
        this.#world.note("user: moves the secrets away");
        this.#machine.disk.moveAway((path) => path.includes("/secrets/") && !path.endsWith(".old"));
        return;
      case "plan.prevented":
        // The block was removed before its policy was recorded.
        this.#world.note(`user: state rm ${address}`);
        this.hasMeddled = true;
        return this.#machine.withState((store) => store.remove(address));
      default:
    }
  }

  /** Sets the suspension of a service in the dashboard, because no apply requests it again. */
  #suspendsByHand(address: string, state: State): void {
    const declared = this.#declarations.at(-1)?.services.find(({ name }) => serviceAddress(name) === address);
    const id = state.resources.get(address)?.attributes.id;
    const real = this.#server.services.find((one) => String(one.id) === id);
    if (real === undefined || declared?.suspended === undefined) return;
    this.#world.note(`user: ${address} is suspended: ${declared.suspended}`);
    real.suspended = declared.suspended;
  }

  /**
   * Confirms that the request of another run did not register the domain, because the dashboard shows no such domain.
   */
  #registers(address: string): void {
    const { name } = parseAddress(address) ?? { name: "" };
    for (const one of this.#declarations.at(-1)?.domains ?? [])
      if (one.name === name) this.#witness.agreeToRegister(one.domain);
    this.orderAnyway.add(address);
  }

  async #adopt(address: string, id: string, state: State): Promise<void> {
    const resource = state.resources.get(address);
    if (resource === undefined || this.#isDeclared(address)) {
      // The recorded object no longer exists, because hostform would not have found another object otherwise. Its
      // state entry is removed.
      if (resource?.attributes.id != null) await this.#machine.withState((store) => store.remove(address));
      this.imports.set(address, id);
      return;
    }
    // No block exists for an `import`, so the user writes the object to the state, like `resolve --adopt`.
    const { pending: _, ...mark } = resource.private;
    const kind = kinds.get(parseAddress(address)?.type ?? "");
    const attributes = { ...resource.attributes, id: kind === undefined ? id : namedBy(kind, id).id };
    await this.#machine.withState((store) => store.put({ ...resource, attributes, private: mark }));
  }

  async #absent(address: string, state: State): Promise<void> {
    const resource = state.resources.get(address);
    if (resource?.private.pending === undefined) return;
    this.#witness.agreeToReorder(this.#server, new Set([address]));
    this.hasMeddled = true;
    const { name } = parseAddress(address) ?? { name: "" };
    for (const { domains } of this.#declarations)
      for (const one of domains) if (one.name === name) this.#witness.agreeToRegister(one.domain);
    // Like `resolve --absent`, restores the object that the create should have replaced.
    const left = withdraw(resource);
    await this.#machine.withState((store) => (left === undefined ? store.remove(address) : store.put(left)));
  }

  #isLive(id: unknown): boolean {
    return ownLive(this.#server, this.#world.now).some((one) => String(one.id) === id);
  }

  #isDeclared(address: string): boolean {
    const { type, name, key } = parseAddress(address) ?? { type: "", name: "", key: undefined };
    const now = this.#declarations.at(-1);
    const lists: Record<string, readonly { readonly name: string }[] | undefined> = {
      hosting_service: now?.services,
      hosting_grant: now?.services.filter(({ grants }) => Object.hasOwn(grants, String(key))),
      hosting_webhook: now?.webhooks,
      hosting_client_account: now?.accounts,
      hosting_migration_request: now?.migrations,
      hosting_domain: now?.domains,
    };
    return lists[type]?.some((one) => one.name === name) ?? false;
  }

  /**
   * Returns the id, in the form for `import`, of the account's object for an address, if no other address has this
   * object.
   */
  #find(address: string, state: State): string | undefined {
    const { type, name, key } = parseAddress(address) ?? { type: "", name: "", key: undefined };
    const taken = new Set(
      [...[...state.resources].map(([other, { attributes }]) => [other, attributes.id] as const), ...this.imports]
        .filter(([other]) => other !== address && other.startsWith(`${type}.`))
        .map(([, id]) => String(id)),
    );
    const free = <T extends { readonly id: number }>(found: readonly T[]) =>
      found.find(({ id }) => !taken.has(String(id)));
    const last = <T extends { readonly name: string }>(list: (declaration: Declaration) => readonly T[]) =>
      this.#declarations.flatMap(list).findLast((one) => one.name === name);
    const mine = <T extends { readonly foreign: boolean }>(list: readonly T[], same: (one: T) => boolean) =>
      list.filter((one) => !one.foreign && same(one));
    const { server, now } = { server: this.#server, now: this.#world.now };
    const text = (found: { readonly id: number } | undefined) => found && String(found.id);
    switch (type) {
      case "hosting_service":
        return text(free(ownLive(server, now).filter((one) => this.#owners.of(one)?.name === name)));
      case "hosting_grant": {
        const parent =
          state.resources.get(serviceAddress(name))?.attributes.id ?? this.imports.get(serviceAddress(name));
        const found = free(mine(server.grants, (one) => String(one.service) === parent && one.email === key));
        return found && `${found.service}/${found.id}`;
      }
      case "hosting_webhook": {
        const declared = last(({ webhooks }) => webhooks);
        return text(
          free(mine(server.webhooks, (one) => one.url === declared?.url && same(one.events, declared.events))),
        );
      }
      case "hosting_client_account":
        return text(free(mine(server.accounts, (one) => one.name === name)));
      case "hosting_migration_request":
        return text(
          free(mine(server.migrations, (one) => one.domain === last(({ migrations }) => migrations)?.domain)),
        );
      case "hosting_domain":
        return text(free(server.registrations.filter((one) => one.domain === last(({ domains }) => domains)?.domain)));
      default:
        return undefined;
    }
  }
}

const same = (a: readonly string[], b: readonly string[]) => a.toSorted().join() === b.toSorted().join();
