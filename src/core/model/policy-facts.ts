// Facts of each change that a policy judges, from the words of its kind. Names of kinds play no part.
import type { Change, Plan } from "./changes.ts";
import type { ConditionName } from "./condition.ts";
import { clientOf, EFFECT_KINDS, type Effect, type EffectKind, effectOf, effectsOf } from "./effect.ts";
import { type lookAlikes, mixture } from "./look-alike.ts";
import { foldedDomain } from "./natural-key.ts";
import type { NewName } from "./policy-verdict.ts";
import { isCurrency } from "./specification.ts";
import type { ResourceState } from "./state.ts";
import { UNKNOWN, type Unknown } from "./value.ts";

/** Facts of one change. A value is {@link UNKNOWN} if it is known only after apply. */
export interface ChangeFacts extends Pick<Change, "address" | "type"> {
  readonly noun: string;
  /** Its effects, without duplicates. None: only its client changes. */
  readonly effects: readonly EffectKind[];
  /** It leaves the account or the state on purpose. */
  readonly isRemoval: boolean;
  /** A site is suspended, deleted or replaced. */
  readonly takesOffline: boolean;
  /** A-labels of the site or domain that it is about. */
  readonly site?: string;
  readonly order?: {
    readonly currency: string;
    /** Upper bound of its invoice, in the API's own unit; null: not known. */
    readonly most: number | null;
    /** Name and number of its plan. Absent: it has none. */
    readonly plan?: readonly string[];
  };
  /** Host that receives events afterwards, as A-labels. */
  readonly receiver?: string | Unknown;
  /** Domain of the person who has access afterwards, as A-labels. */
  readonly grantee?: string | Unknown;
  /** Present and former client; null: nobody's. */
  readonly clients: readonly (string | null)[];
  readonly file?: string;
}

/** Everything that a policy judges. */
export interface PolicyFacts {
  readonly changes: readonly ChangeFacts[];
  readonly conditions: readonly { readonly address: string; readonly condition: ConditionName }[];
  /** Number of recorded objects whose conditions are not known here. */
  readonly unseen: number;
  /** The user whom the CI names; null: it names none. */
  readonly author: string | null;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The state is encrypted with a key. Null: not known here, as Terraform keeps the state. */
  readonly hasStateKey: boolean | null;
  /** Names that the project has, as A-labels: what looks like one of them is suspicious. */
  readonly known: readonly string[];
}

/** Facts of what a plan changes, in its order. What stays as it is has none. */
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

/** The value after a change; {@link UNKNOWN} if the apply decides it. */
function valueAfter({ after, after_unknown: unknown }: Change, attribute: string) {
  const mask = typeof unknown === "object" && !Array.isArray(unknown) ? Reflect.get(unknown, attribute) : unknown;
  return mask === undefined || mask === false ? after?.[attribute] : UNKNOWN;
}

/** A domain, that of an e-mail address too, as A-labels. Anything else is not known: no rule may take it for an allowed one. */
function domainIn(value: unknown): string | Unknown {
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

/** Names that a project has recorded. @param wordsOf the words of the kind of an address. */
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

/** Hosts and domains that a plan lets in for the first time, in the order of the plan. A domain with a site in the project is known. */
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

/** Names of a change that are easily mistaken for others, each with the known name that it looks like. */
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
