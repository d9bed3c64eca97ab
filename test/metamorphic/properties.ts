/**
 * Properties of every test of a cell, checked against the sandbox's record, the state file and the output of the
 * commands. Each function returns its objections. An empty list means that the property holds.
 */
import type { BrokenInvariant } from "../../src/sandbox/index.ts";
import type { InstanceState } from "../support/terraform-state.ts";
import type { Effect, Entry } from "./books.ts";
import type { Cell } from "./cells.ts";
import { keptOf } from "./changes.ts";
import { addressesOf, type Declaration } from "./declaration.ts";
import { isCrash } from "./faults.ts";
import { FACTS, type Live } from "./kinds.ts";
import type { Ran } from "./place.ts";

/** Record of one test, for the properties. */
export interface Story {
  readonly cell: Cell;
  readonly before: Declaration;
  readonly after: Declaration;
  /**
   * Commands after the apply of the first declaration. Their entries and effects are counted from the start of the
   * test.
   */
  readonly ran: readonly Ran[];
  readonly entries: readonly Entry[];
  readonly effects: readonly Effect[];
  /** Index of the first entry of the change. */
  readonly from: number;
  /** Objects after the apply of the first declaration. */
  readonly start: readonly Live[];
  readonly live: readonly Live[];
  readonly state: ReadonlyMap<string, InstanceState>;
  readonly invariants: readonly BrokenInvariant[];
  /** Keys of objects that another user created. */
  readonly elsewhere: ReadonlySet<string>;
  /** Keys of imported objects. The state has no secret of an imported object. */
  readonly imported: ReadonlySet<string>;
}

/** Maximum number of requests during which an access of both declarations may be missing: the delete and the create. */
const LONGEST_GAP = 2;

/** Compares the account and the state with a declaration. */
export function differences(
  declared: Declaration,
  live: readonly Live[],
  state: ReadonlyMap<string, InstanceState>,
  imported: ReadonlySet<string> = new Set(),
): string[] {
  const {
    deletable,
    type,
    key: [, keyValue],
  } = FACTS[declared.kind];
  const addresses = addressesOf(declared);
  const found: string[] = [];
  for (const [key, address] of addresses) {
    const [one, ...more] = live.filter((each) => each.key === key);
    if (one === undefined) {
      found.push(`the account has no ${key}`);
      continue;
    }
    if (more.length > 0) found.push(`the account has ${more.length + 1} × ${key}`);
    if (one.suspended) found.push(`${key} is suspended`);
    const recorded = state.get(address);
    if (recorded === undefined) found.push(`the state has no ${address} (${key} is ${one.id})`);
    else if (![one.id, imported.has(key) ? keyValue(key) : one.id].includes(String(recorded.attributes.id)))
      found.push(`the state has ${address} as ${recorded.attributes.id}, and ${key} is ${one.id}`);
    else if (recorded.status !== "") found.push(`${address} is ${recorded.status}`);
    else if (one.secret !== undefined && recorded.attributes.secret !== one.secret && !imported.has(key))
      found.push(`the secret of ${key} is lost`);
  }
  for (const { key, id, suspended } of live) {
    if (addresses.has(key)) continue;
    if (deletable) found.push(`the account still has ${key} (${id})`);
    else if (suspended === false) found.push(`${key} (${id}) is no longer declared, and is live`);
  }
  const declaredAddresses = new Set(addresses.values());
  for (const address of state.keys())
    if (address.startsWith(`${type}.`) && !declaredAddresses.has(address)) found.push(`the state still has ${address}`);
  return found;
}

/** Finds keys with too many creates, and keys with several objects at the same time. */
export function doubles({ cell, before, after, entries, effects, from, elsewhere }: Story): string[] {
  const { secret, deletable } = FACTS[cell.kind];
  const old = addressesOf(before);
  const moves = new Map(addressesOf(after));
  // A lost response may contain a secret, which allows one more create.
  const lost = secret ? entries.slice(from).filter(({ faulty, method }) => faulty && method === "POST").length : 0;
  const found: string[] = [];
  for (const key of new Set(effects.map((effect) => effect.key))) {
    const made = effects.filter(({ did, key: of, at }) => did === "created" && of === key && at >= from).length;
    const isNew = !old.has(key) && !elsewhere.has(key) && moves.has(key);
    const isRecreated = deletable && key === "one" && (cell.change === "taint" || cell.change === "replace");
    // Terraform may recreate a webhook whose address changes, because of its secret.
    const isHanded = secret && cell.fronts[1] === "terraform" && old.has(key) && moves.get(key) !== old.get(key);
    const allowed = [isNew, isRecreated, isHanded].filter(Boolean).length + lost;
    if (made > allowed) found.push(`${key} was made ${made} times, and ${allowed} are right`);
  }
  for (const [at, { live }] of entries.entries()) {
    const twice = live.find(({ key }, index) => live.findIndex((each) => each.key === key) < index);
    if (twice === undefined) continue;
    found.push(`after request ${at} the account has ${twice.key} twice`);
    break;
  }
  return found;
}

/**
 * Finds accesses of both declarations that were missing too long. A failed request extends the limit until the end of
 * the next command.
 */
export function gaps({ before, after, entries, from, ran }: Story): string[] {
  const found: string[] = [];
  for (const key of keptOf(before, after)) {
    let gap = 0;
    let isExcused = false;
    for (const [index, entry] of entries.slice(from).entries()) {
      const at = index + from;
      if (entry.live.some((one) => one.key === key)) {
        gap = 0;
        isExcused = false;
        continue;
      }
      if (entry.faulty) isExcused = true;
      // The first command after the fault ends the extension.
      if (ran.some((one) => one.to === at && !one.faulty)) isExcused = false;
      gap += 1;
      if (gap <= LONGEST_GAP || isExcused) continue;
      found.push(`${key} was missing for more than ${LONGEST_GAP} requests, until after request ${at}`);
      break;
    }
  }
  return found;
}

/** Finds sites that went offline although both declarations keep them live. */
export function outages({ before, after, effects, from }: Story): string[] {
  const kept = keptOf(before, after);
  return effects
    .filter(({ did, key, at }) => did === "suspended" && at >= from && kept.includes(key))
    .map(({ key, at }) => `${key} was suspended by request ${at}`);
}

/**
 * Finds objects that hostform changed although only their addresses changed. hostform plans all changes together, so
 * it sends no request.
 */
export function touched({ cell, before, after, start, live }: Story): string[] {
  if (cell.fronts[1] === "terraform" || cell.change === "taint") return [];
  return keptOf(before, after).flatMap((key) => {
    const [old, now] = [start, live].map((all) => all.find((one) => one.key === key)?.id);
    return old === now || now === undefined ? [] : [`${key} was ${old} and is ${now}, though nothing of it changed`];
  });
}

/** Compares the printed counts with the effects on the server. */
export function miscounts({ cell, ran }: Story): string[] {
  const { deletable } = FACTS[cell.kind];
  return ran.flatMap((one) => {
    const { counts, effects, faulty, front, command } = one;
    if (counts === undefined || !command.startsWith("apply")) return [];
    const [made, deleted] = (["created", "deleted"] as const).map(
      (did) => effects.filter((each) => each.did === did).length,
    ) as [number, number];
    const found: string[] = [];
    const say = (what: string, printed: number, seen: number) =>
      found.push(`${front} prints ${printed} ${what}, and the server saw ${seen}`);
    // The run that recovers a lost response counts its create. Terraform itself counts objects whose addresses change.
    const isExact = !faulty && !ran.some((other) => other.faulty && other.from < one.from);
    if (isExact && front !== "terraform") {
      if (counts.added !== made) say("added", counts.added, made);
      if (deletable && counts.destroyed !== deleted) say("destroyed", counts.destroyed, deleted);
    } else if (front !== "terraform") {
      if (faulty && counts.added > made) say("added", counts.added, made);
      if (faulty && deletable && counts.destroyed > deleted) say("destroyed", counts.destroyed, deleted);
    }
    return found;
  });
}

/**
 * Finds false statements about an object at another address. The provider receives one address at a time, and never
 * the state.
 */
export function sentences({ ran }: Story): string[] {
  return ran.flatMap(({ text, command, front }) => [
    ...(front === "terraform" && /\bnot in the state/i.test(text)
      ? [`\`${command}\` says "not in the state", which Terraform's provider cannot see`]
      : []),
    ...(/interrupted run/.test(text) && !ran.some(({ faulty }) => faulty)
      ? [`\`${command}\` speaks of an interrupted run, and there was none`]
      : []),
    ...([...text.matchAll(/ (\S+) may be [a-z ]+ \d+ \(([^)]+)\)/g)].some(([, own, other]) => own !== other) ||
    /write it differently/.test(text)
      ? [`\`${command}\` takes another address's object for the declared one, "written differently"`]
      : []),
  ]);
}

export function writingPlans({ ran, entries }: Story): string[] {
  return ran
    .filter(({ command }) => command.startsWith("plan"))
    .flatMap(({ from, to, command }) =>
      entries
        .slice(from, to)
        .filter(({ method }) => method !== "GET")
        .map(({ method, path }) => `\`${command}\` sent ${method} ${path}`),
    );
}

export const brokenRules = ({ cell, invariants, ran }: Story): string[] =>
  invariants
    // Allowed cases: the user checked the account and sent a registration again, or the store with the first
    // registration was lost.
    .filter(
      ({ rule }) =>
        rule !== "domain_sent_twice" ||
        !((cell.fresh && isCrash(cell.fault)) || ran.some(({ command }) => command.endsWith("--absent"))),
    )
    .map(({ rule, message }) => `${rule}: ${message}`);

/** Returns the objections of all properties. */
export function objectionsTo(story: Story): string[] {
  return [
    ...differences(story.after, story.live, story.state, story.imported),
    ...doubles(story),
    ...gaps(story),
    ...outages(story),
    ...touched(story),
    ...(isCrash(story.cell.fault) ? [] : miscounts(story)),
    ...sentences(story),
    ...writingPlans(story),
    ...brokenRules(story),
  ];
}
