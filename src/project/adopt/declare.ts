/** Converts the content of an account to a declaration. Pure. */
import { isPortableName } from "../../core/files/index.ts";
import { kinds } from "../../core/kinds/index.ts";
import { importIdOf, type Kind, matches, type Remote } from "../../core/kinds/kind.ts";
import { planOf } from "../../core/kinds/service/steps.ts";
import { shown } from "../../core/lifecycle/index.ts";
import { formatAddress, type Json, type JsonObject, parseAddress, type ValueObject } from "../../core/model/index.ts";
import { type Block, literal } from "../../fronts/yaml/index.ts";
import { plural } from "../../report/index.ts";
import { freeName, preferredName, slug } from "./names.ts";
import { choiceOf, declaredOf } from "./object.ts";
import { type AccountContents, nestedKind } from "./read.ts";

/** An object to bring under management. */
export interface Adoptable {
  readonly kind: Kind;
  readonly address: string;
  /** Import id of the object. */
  readonly importId: string;
  /** Client of the object. */
  readonly client: string | undefined;
}

/** The live object of a declared resource. */
interface Found extends Adoptable {
  /** Live attributes of the object. */
  readonly live: JsonObject;
}

/** A new block with its objects. */
export interface NewBlock extends Block {
  /** File name without extension. */
  readonly file: string;
  /** Objects of the block. Empty if the block is a comment. */
  readonly adopts: readonly Adoptable[];
}

/** New entries for the block of a declared resource. */
export interface NewEntries {
  /** Address of the outer resource, such as `hosting_service.www`. */
  readonly parent: string;
  readonly entries: JsonObject;
  readonly adopts: readonly Adoptable[];
}

export interface DeclaredResource {
  readonly address: string;
  readonly type: string;
  readonly importId?: string;
  readonly config: ValueObject;
  readonly isRecorded: boolean;
}

/** Declaration and state before the adoption. */
export interface Known {
  /** Address in the state, by kind and import id. */
  readonly recorded: ReadonlyMap<string, string>;
  /** Declared resources of the same account. */
  readonly declared: readonly DeclaredResource[];
  /**
   * Live attributes of declared objects that this adoption adds to the state, by address. Other resources may refer to these
   * objects.
   */
  readonly found: ReadonlyMap<string, JsonObject>;
  /** Addresses in the declaration and in the state, without keys. */
  readonly addresses: ReadonlySet<string>;
  /** Ids of services whose block stays a comment until a person chooses a hosting plan. */
  readonly waiting: ReadonlySet<string>;
  /** Name from the file of names, by kind and id. */
  readonly names: ReadonlyMap<string, string>;
  /** Client from the file of clients, by service id. */
  readonly clients: ReadonlyMap<string, string>;
  readonly language: Notation;
  /** True if the adoption adds no block to the declaration (`--declared`). */
  readonly isDeclaredOnly?: boolean;
}

/** Features of a declaration language. */
export interface Notation {
  /** True if a block with an open choice becomes a comment. Otherwise it is omitted. */
  readonly commentsOut: boolean;
  /** Reserved names that no resource can use. */
  readonly reserved: readonly string[];
  /** True if the names of all resources must differ, even of different kinds. */
  readonly namesShared: boolean;
}

/** Result of an adoption: blocks to write, objects to add to the state, and skipped objects. */
export interface Declared {
  readonly blocks: readonly NewBlock[];
  readonly entries: readonly NewEntries[];
  /** Declared objects that only need a state entry. */
  readonly records: readonly Found[];
  /** One sentence with the reason for each unmanaged object. */
  readonly left: readonly string[];
}

/** Comment above a suspended service. */
const SUSPENDED = "Suspended in the account. Without `suspended`, the suspension stays.";

const keyOf = (kind: Kind, id: string) => `${kind.type} ${id}`;
const sectionOrder = ["client_accounts", "services", "webhooks", "migration_requests"];

/** Comment line that identifies the service in a later run. */
export const CHOOSE = /^\s*# choose: .*\(service ([^\s)]+)\)/gm;

/** Converts the account. @param skip Reason to omit an object, by kind and import id. Comes from a plan of the result. */
export function declare(contents: AccountContents, known: Known, skip: ReadonlyMap<string, string>): Declared {
  return new Declaring(contents, known, skip).result();
}

/**
 * Finds the objects of declared resources. Repeats until no more references can be resolved: `order_id:
 * ${hosting_service.www.id}` requires the service first.
 */
export function settled(contents: AccountContents, knownOf: (found: Known["found"]) => Known): Known {
  for (let known = knownOf(new Map()); ; ) {
    if (known.declared.every(({ isRecorded }) => isRecorded)) return known;
    const { records } = declare(contents, known, new Map());
    if (records.length <= known.found.size) return known;
    known = knownOf(new Map(records.map(({ address, live }) => [address, live])));
  }
}

class Declaring {
  readonly #contents: AccountContents;
  readonly #known: Known;
  readonly #skip: ReadonlyMap<string, string>;
  readonly #taken = new Map<string, Set<string>>();
  /** Declared address and client, by service id. */
  readonly #services = new Map<string, { readonly address: string; readonly client: string | undefined }>();
  readonly #left: string[] = [];
  readonly #blocks: NewBlock[] = [];
  readonly #entries: NewEntries[] = [];
  readonly #records: Found[] = [];
  readonly #unrecorded: ReadonlyMap<string, readonly DeclaredResource[]>;

  constructor(contents: AccountContents, known: Known, skip: ReadonlyMap<string, string>) {
    this.#contents = contents;
    this.#known = known;
    this.#skip = skip;
    this.#unrecorded = Map.groupBy(
      known.declared.filter(({ isRecorded }) => !isRecorded),
      ({ type }) => type,
    );
    const names = [...known.addresses].map((address) => parseAddress(address) ?? { type: "", name: "" });
    const { reserved, namesShared } = known.language;
    const all = new Set([...reserved, ...names.map(({ name }) => name)]);
    for (const { type } of kinds.values()) {
      const own = names.filter((one) => one.type === type).map(({ name }) => name);
      this.#taken.set(type, namesShared ? all : new Set([...reserved, ...own]));
    }
    // Names from the file are reserved.
    for (const [key, name] of known.names) this.#taken.get(key.slice(0, key.indexOf(" ")))?.add(name);
  }

  result(): Declared {
    const grants = Map.groupBy(this.#contents.objects.get(nestedKind.type) ?? [], ({ attributes }) =>
      String(attributes.service_id),
    );
    // Handle services before the objects that refer to them.
    for (const [type, objects] of [...this.#contents.objects].toSorted(
      ([a], [b]) => Number(b === "hosting_service") - Number(a === "hosting_service"),
    )) {
      const kind = kinds.get(type);
      if (kind === undefined || kind.nested !== undefined) continue;
      const named = Map.groupBy(objects, ({ attributes }) => kind.naturalKey(attributes));
      for (const object of objects) {
        const key = kind.naturalKey(object.attributes);
        const alike = key === undefined ? [] : (named.get(key) ?? []);
        const same = alike.filter((other) => matches(kind, object.attributes, other.attributes));
        this.#add(kind, object, same, grants.get(object.id) ?? []);
      }
    }
    const order = ({ section }: Block) => sectionOrder.indexOf(section);
    return {
      blocks: this.#blocks.toSorted((a, b) => order(a) - order(b)),
      entries: this.#entries,
      records: this.#records,
      left: this.#left,
    };
  }

  /** @param same Objects with the same natural key, sorted by id. */
  #add(kind: Kind, object: Remote, same: readonly Remote[], grants: readonly Remote[]): void {
    const { id, attributes } = object;
    const [named = "domain"] = kind.identity ?? [];
    const twin = same[0] === object ? undefined : same[0];
    const recorded = this.#known.recorded.get(keyOf(kind, id));
    const found = recorded === undefined ? this.#declaredAs(kind, object, id) : undefined;
    const declared = recorded ?? found?.address;
    if (found !== undefined && found.importId === undefined && same.length > 1) {
      const ids = same.map((one) => shown(one.id)).join(" and ");
      this.#leave(kind, id, `${ids} all match the declaration of ${found.address}. Import the right object.`, grants);
      return;
    }
    if (declared !== undefined) {
      const client = this.#clientOf(kind, object);
      if (recorded === undefined && !this.#record(kind, declared, object, client, grants)) return;
      if (kind.type === "hosting_service") this.#services.set(id, { address: declared, client });
      this.#addEntries(declared, grants, client);
      return;
    }
    if (this.#known.waiting.has(id) && kind.type === "hosting_service") return;
    const { plans } = this.#contents;
    const mayBe = this.#unrecorded
      .get(kind.type)
      ?.find(({ config }) => kind.mayMatch?.(config, attributes, plans) && kind.naturalKey(config) === undefined);
    const reason =
      mayBe !== undefined
        ? `it may be ${mayBe.address}, which is declared but not in the state. If so, import it there.`
        : twin !== undefined
          ? `${kind.noun}s ${shown(twin.id)} and ${shown(id)} both use ${shown(attributes[named])}. Declare the ${named} once.`
          : this.#skip.get(keyOf(kind, id));
    if (this.#known.isDeclaredOnly === true && mayBe === undefined) return;
    if (reason === undefined) this.#declare(kind, object, grants);
    else this.#leave(kind, id, reason, grants);
  }

  #declare(kind: Kind, object: Remote, grants: readonly Remote[]): void {
    const { id, attributes } = object;
    const plan = kind.fromCatalogue === undefined ? undefined : planOf(attributes, this.#contents.plans);
    const live = plan?.id === undefined ? attributes : { ...attributes, plan_id: plan.id };
    const { config, missing, omitted } = declaredOf(kind, live);
    const open = [...missing].flatMap(([name, why]) => (plan !== undefined && name === "plan_id" ? [] : [why]));
    const isOpen = missing.size > open.length;
    const choice = choiceOf(object, plan?.candidates ?? []);
    if (open.length > 0 || (isOpen && !this.#known.language.commentsOut)) {
      const chosen = `${choice[0]}. Declare it with the one that it has, and import it.`;
      this.#leave(kind, id, open.length > 0 ? open.join(" ") : chosen, grants);
      return;
    }
    for (const why of omitted) this.#leave(kind, id, `it is adopted without an attribute: ${why}`);
    const client = this.#clientOf(kind, object);
    const name =
      this.#known.names.get(keyOf(kind, id)) ??
      freeName(preferredName(kind, object), this.#taken.get(kind.type) ?? new Set());
    const address = formatAddress({ type: kind.type, name });
    if (!isOpen && kind.type === "hosting_service") this.#services.set(id, { address, client });
    const of = this.#grantsOf(grants, address, client, isOpen);
    const isNested = Object.keys(of.entries).length > 0;
    const service = this.#services.get(String(attributes.order_id));
    this.#blocks.push({
      section: kind.section,
      name,
      file: this.#fileOf(kind, object, client ?? service?.client),
      body: {
        ...(isOpen && { import: literal(id) }),
        ...(kind.type === "hosting_service" && client !== undefined && { client }),
        ...config,
        ...(config.order_id !== undefined && service !== undefined && { order_id: `\${${service.address}.id}` }),
        ...(isNested && { [nestedKind.nested?.section ?? ""]: of.entries }),
      },
      ...(isOpen && { commented: choice }),
      ...(object.phase === "suspended" && { notes: [SUSPENDED] }),
      adopts: isOpen ? [] : [{ kind, address, importId: id, client }, ...of.adopts],
    });
    if (isOpen) this.#leave(kind, id, `choose its plan in ${this.#fileOf(kind, object, client)}.hosting.yaml.`);
  }

  /** Adds the object of a declared resource to the state, unless they differ. @returns true if it was added. */
  #record(
    kind: Kind,
    address: string,
    { id, attributes: live }: Remote,
    client: string | undefined,
    grants: readonly Remote[] = [],
  ): boolean {
    const importId = importIdOf(kind, id, live);
    const reason = this.#skip.get(keyOf(kind, importId));
    if (reason === undefined) this.#records.push({ kind, address, importId, client, live });
    else this.#leave(kind, importId, `${address} is declared. ${reason}`, grants);
    return reason === undefined;
  }

  /** Adds grants to the block of a declared service. */
  #addEntries(parent: string, grants: readonly Remote[], client: string | undefined): void {
    const isDeclared = this.#known.declared.some(({ address }) => address === parent);
    const fresh = grants.filter((grant) => {
      const importId = importIdOf(nestedKind, grant.id, grant.attributes);
      const key = keyOf(nestedKind, importId);
      if (this.#known.recorded.has(key)) return false;
      const declared = this.#declaredIn(parent, grant, importId);
      if (declared !== undefined) this.#record(nestedKind, declared.address, grant, client);
      else if (!isDeclared) {
        const grantee = shown(grant.attributes.email);
        this.#leave(
          nestedKind,
          importId,
          `${parent} was adopted before. Declare the grant (${grantee}) and import it.`,
        );
      }
      return declared === undefined && isDeclared && this.#known.isDeclaredOnly !== true;
    });
    const { entries, adopts } = this.#grantsOf(fresh, parent, client, false);
    if (adopts.length > 0) this.#entries.push({ parent, entries, adopts });
  }

  #grantsOf(grants: readonly Remote[], parent: string, client: string | undefined, withIds: boolean) {
    const entries: Record<string, Json> = {};
    const adopts: Adoptable[] = [];
    const seen = new Set<string>();
    for (const { id, attributes } of grants) {
      const importId = importIdOf(nestedKind, id, attributes);
      const { config, missing, omitted } = declaredOf(nestedKind, attributes);
      const key = String(config.email);
      const why =
        this.#skip.get(keyOf(nestedKind, importId)) ??
        (missing.size + omitted.length > 0
          ? [...missing.values(), ...omitted].join(" ")
          : key.includes("${")
            ? `${shown(key)} cannot be the key of a grant, because \`\${\` begins an expression.`
            : seen.has(nestedKind.naturalKey(attributes) ?? key)
              ? `${shown(key)} has another grant for the same service.`
              : undefined);
      if (why !== undefined) {
        this.#leave(nestedKind, importId, why);
        continue;
      }
      seen.add(nestedKind.naturalKey(attributes) ?? key);
      const { email: _, service_id: __, ...rest } = config;
      const { permission, ...more } = rest;
      const whole = withIds ? { import: importId, ...rest } : rest;
      entries[key] = !withIds && Object.keys(more).length === 0 && permission !== undefined ? permission : whole;
      const address = formatAddress({ type: nestedKind.type, name: parent.slice(parent.indexOf(".") + 1), key });
      adopts.push({ kind: nestedKind, address, importId, client });
    }
    return { entries, adopts };
  }

  /** Finds the declared resource of this object, if it has no state entry. One reason is a killed run. */
  #declaredAs(kind: Kind, object: Remote, importId: string): DeclaredResource | undefined {
    const { attributes } = object;
    const isNamed = kind.naturalKey(attributes) !== undefined;
    // Without a natural key, the name of the resource contains the id of the object.
    const own = formatAddress({
      type: kind.type,
      name: this.#known.names.get(keyOf(kind, importId)) ?? preferredName(kind, object),
    });
    return this.#unrecorded.get(kind.type)?.find((one) => {
      if (one.importId !== undefined) return one.importId === importId;
      if (isNamed) return matches(kind, one.config, attributes);
      return one.address === own && kind.naturalKey(one.config) === undefined;
    });
  }

  /** Finds the declared resource of a nested object. The declaration may not contain the id of its parent. */
  #declaredIn(parent: string, { attributes }: Remote, importId: string): DeclaredResource | undefined {
    const instances = `${nestedKind.type}.${parent.slice(parent.indexOf(".") + 1)}[`;
    const isSame = ({ config, importId: given }: DeclaredResource) =>
      given === undefined ? nestedKind.naturalKey(config) === nestedKind.naturalKey(attributes) : given === importId;
    return this.#unrecorded.get(nestedKind.type)?.find((one) => one.address.startsWith(instances) && isSame(one));
  }

  #clientOf(kind: Kind, object: Remote): string | undefined {
    if (kind.type !== "hosting_service") return undefined;
    const given = this.#known.clients.get(object.id);
    return given === undefined ? undefined : slug(given);
  }

  #fileOf(kind: Kind, object: Remote, client: string | undefined): string {
    const owner = kind.section === "client_accounts" ? preferredName(kind, object) : client;
    // Windows reserves some names for devices.
    const isFree = owner !== undefined && !["webhooks", "unassigned"].includes(owner) && isPortableName(owner);
    if (owner !== undefined) return isFree ? owner : `client-${owner}`;
    return kind.section === "webhooks" ? "webhooks" : "unassigned";
  }

  /** Omits an object. @param grants Grants of the service, which are omitted with it. */
  #leave(kind: Kind, id: string, why: string, grants: readonly Remote[] = []): void {
    const open = grants.filter(
      (one) => !this.#known.recorded.has(keyOf(nestedKind, importIdOf(nestedKind, one.id, one.attributes))),
    );
    const emails = open.map(({ attributes }) => shown(attributes.email));
    const inner =
      emails.length === 0 ? "" : ` Left out with it: ${plural(open.length, nestedKind.noun)} (${emails.join(", ")}).`;
    this.#left.push(`${kind.noun} ${shown(id)}: ${why}${inner}`);
  }
}
