// Facts about each change that a policy evaluates. They use the words of a kind, never its name.
import type { Change, Plan } from "./changes.ts";
import type { ConditionName } from "./condition.ts";
import { clientOf, EFFECT_KINDS, type Effect, type EffectKind, effectOf, effectsOf } from "./effect.ts";
import { type lookAlikes, mixture } from "./look-alike.ts";
import { foldedDomain } from "./natural-key.ts";
import type { NewName } from "./policy-verdict.ts";
import { isCurrency } from "./specification.ts";
import type { ResourceState } from "./state.ts";
import { UNKNOWN, type Unknown } from "./value.ts";

/** Facts about one change. {@link UNKNOWN}: known only after apply. */
export interface ChangeFacts extends Pick<Change, "address" | "type"> {
  readonly noun: string;
  /** Effects of the change. Empty if only the client changes. */
  readonly effects: readonly EffectKind[];
  /** True if the change removes the object on purpose from the account or the state. */
  readonly isRemoval: boolean;
  /** True if a site is suspended, deleted or replaced. */
  readonly takesOffline: boolean;
  /** Affected site or domain, as A-labels. */
  readonly site?: string;
  readonly order?: {
    readonly currency: string;
    /** Maximum amount of the invoice in the API's own unit. Null if unknown. */
    readonly most: number | null;
    /** Name and number of the hosting plan. Undefined if there is none. */
    readonly plan?: readonly string[];
  };
  /** Host that receives events after the change, as A-labels. */
  readonly receiver?: string | Unknown;
  /** Domain of the person with access after the change, as A-labels. */
  readonly grantee?: string | Unknown;
  /** Current and former client. Null: no client. */
  readonly clients: readonly (string | null)[];
  readonly file?: string;
}

/** Input of a policy evaluation. */
export interface PolicyFacts {
  readonly changes: readonly ChangeFacts[];
  readonly conditions: readonly { readonly address: string; readonly condition: ConditionName }[];
  /** Number of objects in the state that could not be read. Their conditions are unknown. */
  readonly unseen: number;
  /** User that the CI reports. Null if unknown. */
  readonly author: string | null;
  /** Current time in milliseconds since the epoch. */
  readonly now: number;
  /** True if the state is encrypted with a key. Null if unknown, because Terraform keeps the state. */
  readonly hasStateKey: boolean | null;
  /** Known names of the project, as A-labels. A name that imitates one of these is suspicious. */
  readonly known: readonly string[];
}

/** Returns the facts about all changes, in plan order. Unchanged resources are omitted. */
export function changeFacts(plan: Pick<Plan, "changes">): ChangeFacts[] {
  const effects = Map.groupBy(effectsOf(plan), ({ address }) => address);
  return plan.changes.flatMap((change) => {
    const own = effects.get(change.address) ?? [];
    return own.length > 0 || change.formerClient !== undefined ? [factsOf(change, own)] : [];
  });
}

function factsOf(change: Change, own: readonly Effect[]): ChangeFacts {
  const { address, type, words, actions, before, after, quote, removal, reasons, file, formerClient } = change;
  const kinds = new Set(own.map(({ kind }) => kind));
  const site = domainIn(words.site === undefined ? null : (valueAfter(change, words.site) ?? before?.[words.site]));
  const isOrder = actions.some((action) => action === "create") && (quote !== undefined || words.ordered !== undefined);
  const plan = words.order?.plan;
  const currency = quote?.currency ?? String(after?.[words.order?.currency ?? ""] ?? "unknown");
  const afterwards = (attribute: string | undefined) =>
    attribute === undefined || after === null ? {} : { value: valueAfter(change, attribute) };
  const { value: url } = afterwards(words.receiver);
  const { value: person } = afterwards(words.access?.person);
  return {
    address,
    type,
    noun: words.noun,
    effects: EFFECT_KINDS.filter((kind) => kinds.has(kind)),
    isRemoval: removal !== undefined && reasons.every(({ why }) => why !== "gone"),
    takesOffline:
      kinds.has("offline") || (words.ordered !== undefined && ["delete", "replace"].includes(effectOf(change))),
    ...(typeof site === "string" && { site }),
    ...(isOrder && {
      order: {
        currency,
        most: isCurrency(currency) ? (quote?.most ?? null) : null,
        ...(plan !== undefined && {
          plan: [quote?.plan, after?.[plan]].flatMap((one) => (one == null ? [] : [String(one)])),
        }),
      },
    }),
    ...(url !== undefined && { receiver: hostIn(url) }),
    ...(person !== undefined && { grantee: domainIn(person) }),
    clients: [...new Set([clientOf(change), ...(formerClient === undefined ? [] : [formerClient])])],
    ...(file !== undefined && { file }),
  };
}

/** Returns the value after a change. {@link UNKNOWN} if known only after apply. */
function valueAfter({ after, after_unknown: unknown }: Change, attribute: string) {
  const mask = typeof unknown === "object" && !Array.isArray(unknown) ? Reflect.get(unknown, attribute) : unknown;
  return mask === undefined || mask === false ? after?.[attribute] : UNKNOWN;
}

/**
 * Returns a domain, or the domain of an e-mail address, as A-labels. All other values are {@link UNKNOWN}, so that no rule
 * allows them by mistake.
 */
export function domainIn(value: unknown): string | Unknown {
  if (typeof value !== "string") return UNKNOWN;
  return foldedDomain(value.slice(value.lastIndexOf("@") + 1)) ?? UNKNOWN;
}

const hostIn = (value: unknown): string | Unknown => {
  const host = typeof value === "string" ? URL.parse(value)?.hostname : undefined;
  return host ? host.replace(/\.$/, "") : UNKNOWN;
};

/** Hosts that receive events, domains of people with access, and sites, as A-labels. */
interface Names {
  readonly receivers: ReadonlySet<string>;
  readonly grantees: ReadonlySet<string>;
  readonly sites: ReadonlySet<string>;
}

/** Returns the names in the state of a project. @param wordsOf Returns the words of an address's kind. */
export function namesIn(
  resources: Iterable<Pick<ResourceState, "address" | "attributes">>,
  wordsOf: (address: string) => Change["words"] | undefined,
): Names {
  const receivers = new Set<string>();
  const grantees = new Set<string>();
  const sites = new Set<string>();
  const add = (to: Set<string>, name: string | Unknown) => typeof name === "string" && to.add(name);
  for (const { address, attributes } of resources) {
    const { receiver, access, site } = wordsOf(address) ?? {};
    if (receiver !== undefined) add(receivers, hostIn(attributes[receiver]));
    else if (access !== undefined) add(grantees, domainIn(attributes[access.person]));
    else if (site !== undefined) add(sites, domainIn(attributes[site]));
  }
  return { receivers, grantees, sites };
}

/**
 * Returns hosts and domains that get access for the first time, in plan order. Domains of the project's own sites are known.
 */
export function newNames(changes: readonly ChangeFacts[], { receivers, grantees, sites }: Names): NewName[] {
  const found = new Map<string, NewName>();
  const note = (what: NewName["what"], name: string | Unknown | undefined, known: ReadonlySet<string>, at: string) => {
    if (typeof name !== "string" || known.has(name)) return;
    const { addresses = [] } = found.get(`${what} ${name}`) ?? {};
    found.set(`${what} ${name}`, { what, name, addresses: [...addresses, at] });
  };
  for (const { address, receiver, grantee } of changes) {
    note("receives events", receiver, receivers, address);
    note("gets access", grantee, new Set([...grantees, ...sites]), address);
  }
  return [...found.values()];
}

/** Returns the confusing names of a change. `other`: the known name that it imitates. */
export function suspicions(
  { site, receiver, grantee }: ChangeFacts,
  looksLike: ReturnType<typeof lookAlikes>,
): { readonly name: string; readonly other: string | undefined }[] {
  const names = new Set([site, receiver, grantee].filter((name) => typeof name === "string"));
  return [...names].flatMap((name) => {
    const other = looksLike(name);
    return other === undefined && mixture(name) === undefined ? [] : [{ name, other }];
  });
}
