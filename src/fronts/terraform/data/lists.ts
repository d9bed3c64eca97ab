/**
 * List resources, `list "hosting_…"` of `terraform query`: the objects that an import can adopt. All `list` blocks of a run share one
 * listing of each collection. The grants of each service have their own list.
 */
import { type Kind, kinds, type Remote } from "../../../core/kinds/index.ts";
import { isPendingCreate, mayPass, thingKey } from "../../../core/lifecycle/index.ts";
import {
  breakCommands,
  type Diagnostic,
  equal,
  escapeLine,
  isNameLike,
  type Json,
  type JsonObject,
  shownName,
} from "../../../core/model/index.ts";
import type { Attributes } from "../../../core/model/schema.ts";
import type { DataSource } from "../index.ts";
import { problem, refuse } from "../messages.ts";
import type { ProviderScope } from "../resource/provider-scope.ts";
import {
  allOf,
  domainFilter,
  type Filters,
  filter,
  filterAttributes,
  fits,
  fitsAll,
  kindOf,
  PATTERN,
  readOnly,
  wordProblem,
} from "./define.ts";
import { PHASES } from "./services.ts";

/** Maximum number of services whose grants one list reads, without `max_requests`. */
const MOST_PARENTS = 100;

/** Returns the filters of a kind. They match the attributes of an object, and its phase. */
function filtersOf({ noun, words, attributes, phase, fromCatalogue }: Kind): Filters {
  const { name, access } = words;
  return {
    [name]: [isNameLike, `Only ${noun}s with this ${name}: ${PATTERN}.`],
    ...(phase && { phase: [equal, `Only ${noun}s in this phase: \`${LISTED_PHASES.join("`, `")}\`.`] }),
    ...(Object.hasOwn(attributes.shape, "status") && {
      status: [fits, `Only ${noun}s of this status, in the API's own word.`],
    }),
    ...(fromCatalogue && {
      [fromCatalogue.name]: [fits, `Only ${noun}s of the plan of this name, in upper or lower case.`],
    }),
    ...(access && { [access.permission]: [fits, `Only ${noun}s with this permission.`] }),
  };
}

/** Phases of listed objects. An import refuses an object that has ended. */
const LISTED_PHASES = PHASES.filter((phase) => phase !== "gone");

const UNMANAGED =
  "True for objects that no state contains. The provider knows only the states that were used on this machine or with the same `HOSTFORM_STORE`.";

/** Attributes that select the parents of nested objects. */
function parentAttributes({ noun, words: { parent } }: Kind): Attributes {
  if (parent === undefined) return {};
  return {
    [parent.attribute]: filter(
      "string",
      `Only ${noun}s of this ${parent.noun}. Takes one request, or two if there are no ${noun}s.`,
    ),
    ...filterAttributes({ domain: domainFilter(`${noun}s of ${parent.plural} with`) }),
    max_requests: filter(
      "number",
      `Maximum number of ${parent.plural} whose ${noun}s are read, with one request for each. The list fails if more ${parent.plural} match. Default: ${MOST_PARENTS}. The API allows 60 requests a minute.`,
    ),
  };
}

/** A list resource. */
export interface ListResource extends Pick<DataSource, "name" | "schema" | "check"> {
  readonly kind: Kind;
  readonly filters: Filters;
}

function listResource(kind: Kind): ListResource {
  const filters = filtersOf(kind);
  const { noun, words } = kind;
  const { parent, access } = words;
  const cost = parent === undefined ? "one request for 100 objects" : `one request for each ${parent.noun}`;
  return {
    name: kind.type,
    kind,
    filters,
    schema: readOnly(
      `Finds the ${noun}s of the account that an import can adopt, for \`terraform query\`. Takes ${cost}; all \`list\` blocks of a run share the lists. The ${noun}s are sorted by id. ${noun[0]?.toUpperCase()}${noun.slice(1)}s that have ended are not listed. If more objects match than the block's \`limit\` (default: 100), a warning shows the number.`,
      {
        ...filterAttributes(filters),
        ...parentAttributes(kind),
        unmanaged: filter("bool", UNMANAGED),
      },
    ),
    check: (config) => [
      ...wordProblem("phase", config.phase, LISTED_PHASES, ""),
      ...(access === undefined ? [] : wordProblem(access.permission, config[access.permission], access.levels, "")),
    ],
  };
}

export const listResources = [...kinds.values()].filter(({ list }) => list !== undefined).map(listResource);

/** A found object. */
interface Found {
  readonly object: Remote;
  readonly displayName: string;
}

interface Listing {
  /** Maximum number of objects. */
  readonly limit: number;
  readonly cancelled: AbortSignal | undefined;
  /** Receives each reason why the list lacks objects, before the next object. */
  warn(reason: Diagnostic): void;
}

/**
 * Lists the matching objects. Reads no further list after the call is cancelled.
 * @throws HostformError if a list cannot be read.
 */
export async function* listed(
  { kind, filters }: ListResource,
  config: JsonObject,
  scope: ProviderScope,
  { limit, cancelled, warn }: Listing,
): AsyncGenerator<Found> {
  const isManaged = config.unmanaged === true ? await managedIn(kind, scope) : () => false;
  let count = 0;
  let last: Found | undefined;
  let hasPlan = typeof config.plan !== "string";
  for (const { parent, read } of limit > 0 ? await batchesOf(kind, config, scope, warn) : []) {
    if (cancelled?.aborted) return;
    const objects: Remote[] = [];
    for (const object of await read()) {
      const { attributes, phase } = object;
      hasPlan ||= fits(config.plan, attributes.plan);
      if (phase === "gone" || !fitsAll(filters, config, { ...attributes, phase })) continue;
      if (!(await isManaged(object))) objects.push(object);
    }
    for (const object of objects) {
      if (cancelled?.aborted) return;
      if (last !== undefined) {
        // Terraform reads no response after the limit, so the warning comes before the last object.
        if (count === limit)
          warn(
            problem("terraform.lookup/limit", { noun: kind.noun, limit, total: parent ? undefined : objects.length }),
          );
        yield last;
        if (count === limit) return;
      }
      last = { object, displayName: displayName(kind, object, parent) };
      count += 1;
    }
  }
  if (!hasPlan) warn(absent(`${kind.noun} with the plan ${config.plan}`, "plan"));
  if (last !== undefined) yield last;
}

/** Returns the function that decides whether a state contains an object, or a pending create that may have created the object. */
async function managedIn(kind: Kind, { session, holdings }: ProviderScope) {
  const key = (attributes: JsonObject) => thingKey("default", kind, attributes);
  const entries = [...(await session.entries.all(kind.type)).values()];
  const pending = new Set(
    entries.flatMap((entry) =>
      entry.resolved !== "absent" && isPendingCreate(entry) ? (key(entry.attributes) ?? []) : [],
    ),
  );
  return async (object: Remote) =>
    pending.has(key(object.attributes) ?? "") || (await holdings.isManaged(kind, object));
}
/** Warns about a value of a filter that no object has. */
const absent = (what: string, attribute: string): Diagnostic => ({
  ...problem("terraform.lookup/none", { what, fix: `Correct \`${attribute}\`.` }),
  severity: "warning",
});

/** Part of a list that one collection contains. */
interface Batch {
  readonly parent?: Remote;
  readonly read: () => Promise<readonly Remote[]>;
}

async function batchesOf(
  kind: Kind,
  config: JsonObject,
  { session }: ProviderScope,
  warn: Listing["warn"],
): Promise<Batch[]> {
  const { parent } = kind.words;
  if (parent === undefined) return [{ read: () => allOf(kind.type, session) }];
  const id = config[parent.attribute];
  if (typeof id === "string") {
    const read = async () => {
      const found = await allOf(kind.type, session, id);
      if (found.length === 0 && (await session.account.find(kindOf(parent.type), id)) === undefined)
        warn(absent(`${parent.noun} ${id}`, parent.attribute));
      return found;
    };
    return [{ read }];
  }
  const all = await allOf(parent.type, session);
  const parents = all.filter(
    ({ phase, attributes }) =>
      phase !== "gone" && (config.domain === null || isNameLike(config.domain, attributes.domain)),
  );
  const most = typeof config.max_requests === "number" ? config.max_requests : MOST_PARENTS;
  if (parents.length > most)
    refuse(
      problem("terraform.lookup/requests", { noun: kind.noun, parents: parent.plural, count: parents.length, most }),
    );
  const { noun } = kind;
  return parents.map((one) => ({
    parent: one,
    read: () =>
      allOf(kind.type, session, one.id).catch((error: unknown) => {
        // A host may hide the children of a service that is not live yet (§3).
        if (one.phase === "live" || one.phase === "suspended" || !mayPass(error)) throw error;
        warn(problem("apply.waiting/hidden", { noun, of: `${parent.noun} ${one.id}` }));
        return [];
      }),
  }));
}

/** Returns for example `www.acme.example (service 1003, live)`. The host chose the texts, so controls are escaped. */
function displayName(
  { noun, words, phase: hasPhase }: Kind,
  { id, attributes, phase }: Remote,
  parent?: Remote,
): string {
  const text = (value: Json | undefined) => (typeof value === "string" && value !== "" ? value : undefined);
  const { name, access } = words;
  const of = text(parent?.attributes.domain);
  const parentId =
    words.parent === undefined
      ? undefined
      : `${of === undefined ? "" : `${of}, `}${words.parent.noun} ${attributes[words.parent.attribute]}`;
  const state = hasPhase === undefined ? text(attributes[access?.permission ?? "status"]) : phase;
  const about = [`${noun} ${id}`, parentId, state].filter((part) => part !== undefined).join(", ");
  const title = text(attributes[name]) ?? text(attributes.plan);
  return breakCommands(escapeLine(title === undefined ? about : `${shownName(title)} (${about})`));
}
