// Changes, drift and moves of a plan as text.
import {
  type Change,
  type ChangeAction,
  type ChangeReason,
  type Drift,
  effectOf,
  effectsOf,
  equal,
  formatNumber,
  hiddenText,
  isObject,
  isReplacement,
  join,
  type Plan,
  parseAddress,
  type ReasonKind,
  recordsOnly,
  shownText,
  UNKNOWN,
  type Value,
} from "../core/model/index.ts";
import { escapeLine, quote } from "./escape.ts";
import { orderSentence } from "./money.ts";
import { firstOf, type MoneyScale, plural } from "./numbers.ts";
import { type Row, rowLines } from "./plan-value.ts";
import type { Paint } from "./text-style.ts";

/** Maximum number of listed reasons. Further reasons are counted. */
const MAX_REASONS = 6;

const WHY: Readonly<Record<ReasonKind, string>> = {
  declared: "declared",
  drift: "changed outside of hostform",
  import: "import",
  removed: "no longer declared",
  destroy: "destroy",
  replace: "replaced on purpose",
  reorder: "ordered again",
  gone: "no longer exists",
};

/** Returns the lines of one change in Terraform's layout: comment lines with address and reasons, then the block of attributes. */
export function changeLines(change: Change, paint: Paint, moneyScale?: MoneyScale): string[] {
  return [
    `  ${paint.bold(`# ${escapeLine(change.address)}`)} ${title(change, paint)}`,
    ...remarks(change, moneyScale).map((text) => `  ${paint.dim(`# ${escapeLine(text)}`)}`),
    ...resourceBlock(change.address, symbolOf(change, paint), rowsOf(change), paint),
  ];
}

/** Returns a block `~ resource "hosting_service" "acme" { … }`. @param symbol coloured sign, three columns wide. */
function resourceBlock(address: string, symbol: string, rows: readonly Row[], paint: Paint): string[] {
  const { type, name } = parseAddress(address) ?? { type: "resource", name: address };
  const head = `${symbol} resource ${quote(type)} ${quote(name)} {`;
  return [head, ...rowLines(rows, 6, paint), "    }"];
}

export function title(change: Change, paint: Paint): string {
  const [first, second] = change.actions;
  if (second !== undefined) return `must be ${paint.removed("replaced")}`;
  if (recordsOnly(change))
    return change.importing ? IMPORTED : "will be updated in the state; nothing changes in the account";
  const effect = effectOf(change);
  if (effect === "suspend") {
    const offline = `will be ${paint.removed("suspended")}: ${whatGoes(change)} goes offline`;
    return first === "forget" ? `${offline}; it stays in the account and is no longer managed` : offline;
  }
  switch (first) {
    case "create":
      if (effect === "order") return "will be ordered";
      return change.words.access ? "will be created; access is given" : "will be created";
    case "update":
      return effect === "unsuspend"
        ? `will be unsuspended; ${whatGoes(change)} comes back online`
        : "will be updated in-place";
    case "delete":
      return `will be ${paint.removed("destroyed")}${change.words.access ? "; access is taken" : ""}`;
    case "forget":
      if (change.reasons.some(({ why }) => why === "gone")) return "will no longer be managed";
      return change.unchecked
        ? "will no longer be managed; nothing changes in the account"
        : "will no longer be managed, but stays in the account";
    case "no-op":
      return IMPORTED;
  }
}

const IMPORTED = "will be imported; nothing changes in the account";

/** Returns the subject of an outage: "its site", or "it" for a server without a domain. */
const whatGoes = ({ before, words }: Change) => (typeof before?.[words.site ?? ""] === "string" ? "its site" : "it");

function remarks(change: Change, moneyScale: MoneyScale | undefined): string[] {
  const costs = effectsOf({ changes: [change] }).flatMap(({ money }) => money ?? []);
  const lines = [
    ...costs.map((money) => orderSentence(money, change.provider, moneyScale)),
    ...change.reasons.slice(0, MAX_REASONS).map(reasonText),
  ];
  const more = change.reasons.length - MAX_REASONS;
  if (more > 0) lines.push(`and ${plural(more, "more reason")}`);
  if (change.importing !== undefined && change.actions[0] !== "no-op")
    lines.push(`(imported from ${quote(change.importing.id)})`);
  if (change.deferred.length > 0) lines.push(deferredText(change));
  if (change.unchecked) lines.push("(from the state, not checked)");
  if (change.secretTo !== undefined) lines.push(`(its secret is written to ${change.secretTo})`);
  if (change.client !== undefined) lines.push(`(client: ${change.client})`);
  if (change.provider !== "default") lines.push(`(account: provider ${change.provider})`);
  return lines;
}

/** Returns the text of a reason: `declared: term is 12, was 1`. Adds the attribute if the sentence does not contain it. */
export function reasonText({ why, attribute, text }: ChangeReason): string {
  const label = WHY[why];
  const named = attribute === undefined || text.includes(attribute) ? text : `${attribute}: ${text}`;
  return text.toLowerCase().includes(label) || text.includes(" declares ") ? named : `${label}: ${named}`;
}

/** Returns the text about deferred attributes: `suspended waits until the service is live`. */
export function deferredText(change: Change): string {
  const names = change.deferred.join(", ");
  return `${names} ${change.deferred.length === 1 ? "waits" : "wait"} until the ${change.words.noun} is live`;
}

/** Returns the sign before `resource`, three columns wide. */
export function symbolOf(change: Change, paint: Paint): string {
  const [first, second] = change.actions;
  if (second !== undefined) {
    const [minus, plus] = [paint.removed("-"), paint.added("+")];
    return first === "delete" ? `${minus}/${plus}` : `${plus}/${minus}`;
  }
  if (effectOf(change) === "suspend") return `  ${paint.removed("!")}`;
  if (recordsOnly(change)) return "   ";
  const symbols: Readonly<Record<ChangeAction, string>> = {
    create: paint.added("+"),
    update: paint.changed("~"),
    delete: paint.removed("-"),
    forget: paint.changed("."),
    "no-op": " ",
  };
  return `  ${symbols[first]}`;
}

const LEGEND: readonly (readonly [matches: (change: Change) => boolean, text: string])[] = [
  [(change) => effectOf(change) === "suspend", "suspend: the site goes offline"],
  [(change) => effectOf(change) === "order", "order: an invoice is raised at once"],
  [(change) => effectOf(change) === "create", "create"],
  [(change) => ["update", "unsuspend"].includes(effectOf(change)), "update in-place"],
  [(change) => change.actions[0] === "delete" && !isReplacement(change), "destroy"],
  [(change) => change.actions[0] === "delete" && isReplacement(change), "destroy and then create replacement"],
  [(change) => change.actions[0] === "create" && isReplacement(change), "create replacement and then destroy"],
  [(change) => effectOf(change) === "forget", "forget: remove from the state, change nothing in the account"],
];

/** Explains the signs in the plan. */
export function legendLines(changes: readonly Change[], paint: Paint): string[] {
  return LEGEND.flatMap(([matches, text]) => {
    const example = changes.find(matches);
    if (example === undefined) return [];
    return [`${symbolOf(example, paint)} ${effectOf(example) === "suspend" ? paint.removed(text) : text}`];
  });
}

/**
 * Returns the attributes of a change as rows. A forgotten object has only its identifying attributes, a created object only its declared
 * attributes.
 */
function rowsOf(change: Change): Row[] {
  const { before, after } = change;
  const kept = change.actions[0] === "forget";
  const replaced = isReplacement(change);
  const sentOnly = writeOnly(change);
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {}), ...sentOnly]);
  const planned = after === null ? null : (join(after, change.after_unknown) as { readonly [key: string]: Value });
  return [...names].map((label): Row => {
    const old = before?.[label];
    const now = kept ? old : planned?.[label];
    const computed = before === null && now === UNKNOWN && (change.config?.[label] ?? null) === null;
    const changes = replaced && change.reasons.some((reason) => reason.attribute === label);
    const row: Row = {
      label,
      before: old,
      after: now,
      keep: label === change.words.name || (change.importing !== undefined && change.actions[0] === "no-op"),
      computed,
      ...(changes && { note: "forces replacement" }),
    };
    if (!change.sensitive.includes(label)) return row;
    if (!sentOnly.includes(label)) return { ...row, instead: shownText(change.origins?.[label]) };
    // Neither side contains the value. Two different strings mark the row as changed.
    const sides = { before: before === null ? null : "as it was", after: "as declared" };
    return { ...row, ...sides, instead: "(write-only attribute)" };
  });
}

/** Returns the declared secrets that are sent but never stored (§4 password). Neither side of the change contains them. */
function writeOnly({ sensitive, actions, reasons, config, before, after, after_unknown: mask }: Change): string[] {
  const isUnknown = (name: string) =>
    isObject(mask) ? Object.hasOwn(mask, name) && mask[name] !== false : mask === true;
  return sensitive.filter((name) => {
    const sent = actions.includes("create") || reasons.some(({ attribute }) => attribute === name);
    const stored = before?.[name] ?? after?.[name];
    return (config?.[name] ?? null) !== null && sent && (stored ?? null) === null && !isUnknown(name);
  });
}

type Sorted = ReturnType<typeof sort>;

/**
 * Returns the note about changes outside of hostform: missing objects, and attributes that are declared or caused a change. One line
 * summarizes all other drift, because people ignore a note that always appears.
 */
export function driftLines(plan: Plan, paint: Paint): string[] {
  const changes = new Map(plan.changes.map((change) => [change.address, change]));
  const sorted = plan.drift.map((drift) => sort(drift, changes.get(drift.address)));
  const shown = sorted.filter(({ drift, matters }) => drift.after === null || matters.length > 0);
  const lines: string[] = [];
  if (shown.length > 0) {
    lines.push(
      `${paint.bold("Note:")} Objects have changed outside of hostform`,
      "",
      "These objects differ from the state:",
      "",
      ...shown.flatMap((entry) => [...driftBlock(entry, paint), ""]),
    );
  }
  const folded = foldedLine(sorted);
  return folded === undefined ? lines : [...lines, paint.dim(folded), ""];
}

/** Splits a drift into attributes that matter for the declaration and computed ones (a due date, a status). */
function sort(drift: Drift, change: Change | undefined) {
  const matters = mattersIn(drift, change);
  return { drift, change, matters, computed: movedIn(drift).filter((name) => !matters.includes(name)) };
}

/** Returns the changed attributes that differ from the declaration or caused a change. */
export function mattersIn(drift: Drift, change: Change | undefined): string[] {
  const isCause = (name: string) => change?.reasons.some(({ attribute }) => attribute === name) === true;
  const differs = (name: string) => {
    const declared = change?.config?.[name] ?? null;
    return declared !== null && !equal(declared, drift.after?.[name] ?? null);
  };
  return movedIn(drift).filter((name) => differs(name) || isCause(name));
}

export function movedIn({ before, after }: Drift): string[] {
  return Object.keys({ ...before, ...after }).filter((name) => !equal(before[name] ?? null, after?.[name] ?? null));
}

/** Returns the attributes with hidden values. Without the change, the secret attributes are unknown, so all attributes are hidden. */
export const hiddenIn = ({ before, after }: Drift, change: Change | undefined): readonly string[] =>
  change?.sensitive ?? Object.keys({ ...before, ...after });

function driftBlock({ drift, change, matters }: Sorted, paint: Paint): string[] {
  const { address, before, after } = drift;
  const [symbol, what] =
    after === null ? [paint.removed("-"), "no longer exists"] : [paint.changed("~"), "has changed"];
  const hidden = hiddenIn(drift, change);
  const rows = Object.keys({ ...before, ...after }).map((label) => ({
    label,
    keep: label === change?.words.name,
    before: before[label],
    after: after === null ? null : matters.includes(label) ? after[label] : before[label],
    ...(hidden.includes(label) && { instead: hiddenText(change?.origins?.[label]) }),
  }));
  return [`  ${paint.bold(`# ${escapeLine(address)}`)} ${what}`, ...resourceBlock(address, `  ${symbol}`, rows, paint)];
}

/** Returns the summary of other drift: `(Refreshed, without effect on this plan: next_due_date, status of 37 resources)`. */
function foldedLine(sorted: readonly Sorted[]): string | undefined {
  const moved = sorted.filter(({ drift, computed }) => drift.after !== null && computed.length > 0);
  const [only] = moved;
  if (only === undefined) return undefined;
  const names = [...new Set(moved.flatMap(({ computed }) => computed))].sort();
  const more = ` and ${formatNumber(names.length - 4)} more attributes`;
  const listed = names.length > 5 ? names.slice(0, 4).join(", ") + more : names.join(", ");
  const where = moved.length === 1 ? only.drift.address : plural(moved.length, "resource");
  return `(Refreshed, without effect on this plan: ${escapeLine(listed)} of ${escapeLine(where)})`;
}

/** Maximum number of listed moves. Further moves are counted. */
const MOST = 50;

/** Returns the new addresses in the state (`moved`, or an added or removed `count`). */
export function moveLines(plan: Plan, paint: Paint): string[] {
  const moved = plan.changes.filter(({ previousAddress }) => previousAddress !== undefined);
  if (moved.length === 0) return [];
  const lines = moved.map(({ address, previousAddress = "" }) => escapeLine(`  ${previousAddress} -> ${address}`));
  return [paint.bold("New addresses in the state:"), ...firstOf(lines, MOST), ""];
}
