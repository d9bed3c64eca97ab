/**
 * The properties of every course, checked in the sandbox's own books, in the state file and in what the commands printed. Each function
 * returns sentences; none: the property holds.
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

/** One course, as it is judged. */
export interface Story {
  readonly cell: Cell;
  readonly before: Declaration;
  readonly after: Declaration;
  /** The commands after the first declaration was applied; entries and effects are counted from the beginning. */
  readonly ran: readonly Ran[];
  readonly entries: readonly Entry[];
  readonly effects: readonly Effect[];
  /** Numbers of the entries from which the change began. */
  readonly from: number;
  /** The objects after the first declaration was applied. */
  readonly start: readonly Live[];
  readonly live: readonly Live[];
  readonly state: ReadonlyMap<string, InstanceState>;
  readonly invariants: readonly BrokenInvariant[];
  /** Keys of objects that somebody else made. */
  readonly elsewhere: ReadonlySet<string>;
  /** Keys of objects that were imported: no import can know a secret. */
  readonly imported: ReadonlySet<string>;
}

/** Most requests for which somebody may be without an access that both declarations have: the delete and the create. */
const LONGEST_GAP = 2;

/** Compares account and state with a declaration. */
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

/** Counts of creates, and objects of one key side by side. */
export function doubles({ cell, before, after, entries, effects, from, elsewhere }: Story): string[] {
  const { secret, deletable } = FACTS[cell.kind];
  const old = addressesOf(before);
  const moves = new Map(addressesOf(after));
  // A secret that went with a lost answer is worth another object.
  const lost = secret ? entries.slice(from).filter(({ faulty, method }) => faulty && method === "POST").length : 0;
  const found: string[] = [];
  for (const key of new Set(effects.map((effect) => effect.key))) {
    const made = effects.filter(({ did, key: of, at }) => did === "created" && of === key && at >= from).length;
    const isNew = !old.has(key) && !elsewhere.has(key) && moves.has(key);
    const isRecreated = deletable && key === "one" && (cell.change === "taint" || cell.change === "replace");
    // In Terraform a webhook that changes hands may be recreated for its secret.
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

/** Accesses that both declarations have. A failing request in between prolongs a gap until the end of the next command. */
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
      // The excuse ends with the first command after the fault.
      if (ran.some((one) => one.to === at && !one.faulty)) isExcused = false;
      gap += 1;
      if (gap <= LONGEST_GAP || isExcused) continue;
      found.push(`${key} was missing for more than ${LONGEST_GAP} requests, until after request ${at}`);
      break;
    }
  }
  return found;
}

/** Live sites that both declarations keep live. */
export function outages({ before, after, effects, from }: Story): string[] {
  const kept = keptOf(before, after);
  return effects
    .filter(({ did, key, at }) => did === "suspended" && at >= from && kept.includes(key))
    .map(({ key, at }) => `${key} was suspended by request ${at}`);
}

/** Changes of hands alone: hostform, which plans the order of all changes, sends nothing for them. */
export function touched({ cell, before, after, start, live }: Story): string[] {
  if (cell.fronts[1] === "terraform" || cell.change === "taint") return [];
  return keptOf(before, after).flatMap((key) => {
    const [old, now] = [start, live].map((all) => all.find((one) => one.key === key)?.id);
    return old === now || now === undefined ? [] : [`${key} was ${old} and is ${now}, though nothing of it changed`];
  });
}

/** Counts as printed, against the effects that the server saw. */
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
    // An answer that did not come is counted by the run that learns of it; what changes hands is counted by Terraform itself.
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

/** Sentences about an object at another address that are false. The provider is sent one address at a time, and never the state. */
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

/** Rules of the sandbox. */
export const brokenRules = ({ cell, invariants, ran }: Story): string[] =>
  invariants
    // The user looked into the account, and had a registration sent again; or the machine that knew of the first one is gone.
    .filter(
      ({ rule }) =>
        rule !== "domain_sent_twice" ||
        !((cell.fresh && isCrash(cell.fault)) || ran.some(({ command }) => command.endsWith("--absent"))),
    )
    .map(({ rule, message }) => `${rule}: ${message}`);

/** Every property of a whole course. */
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
