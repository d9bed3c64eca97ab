import { hash, scryptSync } from "node:crypto";
import path from "node:path";
import { read } from "../core/files/index.ts";
import {
  type AccountMark,
  type Change,
  type Desired,
  equal,
  formatMoney,
  ifExplained,
  isNoOp,
  type Plan,
  type ProviderConfig,
  type Quote,
  type State,
  some,
} from "../core/model/index.ts";
import type { OpenState } from "../core/record/index.ts";
import { firstOf, formatNumber, type MoneyScale } from "../report/index.ts";
import { raise } from "./messages.ts";
import type { Project } from "./project.ts";
import type { Redaction } from "./redaction.ts";
import type { ProjectSource } from "./source.ts";

/** Origin of a plan: state, declaration and accounts. A plan can be applied only to the same origin. */
export interface Origin {
  readonly lineage: string;
  readonly serial: number;
  /**
   * Digest of the state entries without secrets. The serial alone is not sufficient: a journal changes entries without
   * changing the serial.
   */
  readonly state: string;
  readonly project: string;
  /** Files of the declaration, in order. */
  readonly declaration: readonly FileDigest[];
  /** URL of the API by provider alias. Null if unknown. */
  readonly accounts: Readonly<Record<string, string | null>>;
  /** Account mark by provider alias. */
  readonly identities: Readonly<Record<string, AccountMark>>;
  /** Commit of the declaration. Only for people: the files and the state decide. */
  readonly commit?: string;
  /** Name of the environment, for a mandate. The files and the state decide. */
  readonly environment?: string;
  /** Provider alias -> `money_scale`, for readers of the plan without a setting of their own. */
  readonly scales?: Readonly<Record<string, number>>;
  /** Provider alias -> number of creates in the account store. Only for people. */
  readonly sequence?: Readonly<Record<string, number>>;
}

/** A file of the declaration: its path relative to the project's folder, and the SHA-256 of its bytes. */
interface FileDigest {
  readonly file: string;
  readonly digest: string;
}

type Here = Omit<Origin, "identities">;

/** Returns the origin of this run. */
export async function originOf(source: ProjectSource, desired: Desired, state: State): Promise<Here> {
  const addressOf = ({ baseUrl = source.env.HOSTING_BASE_URL }: ProviderConfig) => baseUrl?.replace(/\/+$/, "") || null;
  return {
    lineage: state.lineage,
    serial: state.serial,
    state: stateDigest(state),
    project: desired.project,
    declaration: await declarationOf(source, desired),
    accounts: Object.fromEntries([...desired.providers].map(([alias, config]) => [alias, addressOf(config)])),
    scales: Object.fromEntries(
      [...desired.providers].flatMap(([alias, { moneyScale }]) =>
        moneyScale === undefined ? [] : [[alias, moneyScale]],
      ),
    ),
  };
}

/** Returns the `money_scale` of a saved plan. The settings of this run come first. */
export const savedScale =
  (own: MoneyScale, { scales = {} }: Pick<Origin, "scales">): MoneyScale =>
  (currency, alias) =>
    own(currency, alias) ?? scales[alias];

const stale = (summary: string, detail: string) => raise("plan.saved/stale", { summary, detail });

/** Maximum number of named runs, and of effects of one run. */
const [MOST_RUNS, MOST_EFFECTS] = [5, 5];

/**
 * Returns sentences about the runs in the history after a time (ISO 8601). Undefined if none is known.
 */
export async function runsSince(time: string, { history }: Pick<OpenState, "history">): Promise<string | undefined> {
  const reading = await history?.read().catch(ifExplained(() => undefined));
  const later = (reading?.entries ?? []).filter(({ at }) => at >= time).slice(-MOST_RUNS);
  if (later.length === 0) return undefined;
  const texts = later.map(({ at, command, commit, details }) => {
    const from = commit === null ? "" : `, commit ${commit.slice(0, 12)}`;
    const effects = details?.effects.map(({ text }) => text) ?? [];
    return [`${at} ${command} by ${details?.who ?? "(removed)"}${from}.`, ...firstOf(effects, MOST_EFFECTS)].join(" ");
  });
  return `Runs since the plan:\n${texts.join("\n")}`;
}

/**
 * Rejects a plan of another origin.
 * @param before sentences about the runs since the plan, if any is known.
 * @throws HostformError `plan.saved` with the difference.
 */
export function checkOrigin(saved: Here, here: Here, before?: string): void {
  if (saved.lineage !== here.lineage && saved.lineage !== "") {
    const found = here.lineage === "" ? "here there is none" : `here it is ${here.lineage}`;
    stale("The plan was created from another state", `Its lineage is ${saved.lineage}; ${found}.`);
  }
  if (saved.serial !== here.serial || saved.lineage !== here.lineage) {
    const when = `The serial of the state was ${saved.serial} in the plan and is ${here.serial} now. ${before ?? "Another command has changed the state since; perhaps it applied this plan."}`;
    stale("The state has changed since the plan was created", when);
  }
  if (saved.state !== here.state) {
    stale("The state has changed since the plan was created", before ?? "An interrupted apply has changed it.");
  }
  if (saved.project !== here.project) {
    const which = `It is for ${saved.project}, and the declaration is ${here.project}.`;
    stale("The plan was created for another project", which);
  }
  if (!equal(saved.declaration, here.declaration)) {
    stale("The declaration has changed since the plan was created", changedFiles(saved.declaration, here.declaration));
  }
  for (const alias of new Set([...Object.keys(saved.accounts), ...Object.keys(here.accounts)])) {
    const then = saved.accounts[alias] ?? "none";
    const now = here.accounts[alias] ?? "none";
    if (then !== now) stale(`Provider ${alias} has another address than in the plan`, `Then: ${then}. Now: ${now}.`);
  }
}

/**
 * Compares a saved plan with a new plan. Returns one sentence for each difference. Read-only attributes (due date, status)
 * may differ; actions, objects and prices may not.
 * @param redaction Hides the same values in both plans.
 */
export function differences(saved: Plan, now: Plan, redaction: Redaction, moneyScale: MoneyScale): string[] {
  const outlines = ({ changes }: Plan) => new Map(changes.filter(isShown).map((change) => [change.address, change]));
  const before = outlines(saved);
  const after = outlines(now);
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((address) => {
    const old = before.get(address);
    const next = after.get(address);
    if (old === undefined) return [`${address}: the plan does not change it, and now it would be changed.`];
    if (next === undefined) return [`${address}: it no longer needs a change.`];
    const was = outline(old, redaction);
    const is = outline(next, redaction);
    const parts = Object.keys(was).filter((part) => !equal(was[part], is[part]));
    if (parts.length === 0) return [];
    const price = ` The price was ${shownPrice(old, moneyScale)} and is ${shownPrice(next, moneyScale)}.`;
    return [`${address}: differs in ${parts.join(", ")}.${parts.includes("price") ? price : ""}`];
  });
}

const MOST_NAMED = 10;

/** Rejects the apply if the account changed since the plan. @throws HostformError `plan.saved`. */
export function refuseDifferences(found: readonly string[]): void {
  if (found.length > 0) stale("The plan no longer matches the account", firstOf(found, MOST_NAMED).join("\n"));
}

/** Returns true if a change affects the account, or moves a state entry. */
const isShown = (change: Change) => !isNoOp(change) || change.previousAddress !== undefined;

type Outline = Readonly<Record<string, unknown>>;

/** Returns the parts of a change that a person approved. */
function outline(change: Change, redaction: Redaction): Outline {
  const { actions, provider, before, after, config, sensitive, reasons, private: mark, quote } = change;
  const declared = Object.keys(config ?? {}).filter((name) => (config?.[name] ?? null) !== null);
  const causes = reasons.flatMap(({ attribute }) => attribute ?? []);
  const names = [...new Set([...declared, ...causes])].filter((name) => !sensitive.includes(name)).sort();
  const sides = names.map((name) => [name, causes.includes(name) ? before?.[name] : null, after?.[name]]);
  return {
    actions,
    provider,
    object: before?.id ?? change.importing?.id ?? null,
    former: change.previousAddress ?? null,
    removal: change.removal ?? null,
    causes: causes.toSorted(),
    values: redaction.redact(JSON.stringify(sides)),
    generation: mark.generation ?? 1,
    price: quote === undefined ? null : priceOf(quote),
  };
}

function shownPrice({ quote, provider }: Change, moneyScale: MoneyScale): string {
  if (quote === undefined) return "none";
  const { billed, list, currency } = quote;
  return formatMoney(billed ?? list, currency, moneyScale(currency, provider));
}

/** Returns a price for comparison, in the same format as all earlier versions. */
function priceOf({ billed, list, currency }: Quote): string {
  const amount = billed ?? list;
  return amount === null ? "unknown" : `${formatNumber(amount)} ${currency}`;
}

/** Returns a digest of the contents of the declaration's files. It does not contain their paths. */
export async function declarationDigest({ source, declaration }: Project): Promise<string> {
  const files = await declarationOf(source, (await declaration.load()).desired);
  return hash("sha256", files.map(({ digest }) => digest).join("\n"));
}

/** Returns the digests of the declaration's files. */
async function declarationOf(source: ProjectSource, { files }: Desired): Promise<readonly FileDigest[]> {
  const { value } = source;
  if (value !== undefined) return [{ file: value.path, digest: hash("sha256", value.text) }];
  const paths = files.map((file) => path.resolve(source.cwd, file));
  const digests = paths.map(async (file) => {
    return { file: path.relative(source.dir, file), digest: hash("sha256", await read(file)) };
  });
  return [...(await Promise.all(digests)), ...stackDigests(source)];
}

/**
 * Returns the language of a stack, and a digest of its variables. The digest is slow to compute, so that nobody can guess a
 * password from it.
 */
function stackDigests({ stack }: ProjectSource): FileDigest[] {
  if (stack === undefined) return [];
  const last = new Map(stack.given.map(({ name, value }) => [name, value]));
  const values = [...last].filter(([name]) => stack.outline.variables.has(name)).sort(([a], [b]) => (a < b ? -1 : 1));
  const { language } = stack.run;
  const chosen = language === undefined ? [] : [{ file: "the language of expressions", digest: language }];
  if (values.length === 0) return chosen;
  const salt = hash("sha256", JSON.stringify(stack.files.map(({ text }) => text)), "buffer");
  const digest = scryptSync(JSON.stringify(values), salt, 32).toString("hex");
  return [...chosen, { file: "the values of variables", digest }];
}

/** Returns the changed files: `Changed: hosting.yaml. New: b.hosting.yaml. No longer there: c.hosting.yaml.` */
function changedFiles(then: readonly FileDigest[], now: readonly FileDigest[]): string {
  const digests = (files: readonly FileDigest[]) => new Map(files.map(({ file, digest }) => [file, digest]));
  const was = digests(then);
  const is = digests(now);
  const groups = {
    Changed: [...is.keys()].filter((file) => was.has(file) && was.get(file) !== is.get(file)),
    New: [...is.keys()].filter((file) => !was.has(file)),
    Removed: [...was.keys()].filter((file) => !is.has(file)),
  };
  const parts = Object.entries(groups).flatMap(([words, files]) =>
    files.length === 0 ? [] : [`${words}: ${some(files)}.`],
  );
  return parts.length === 0 ? "Its files are read in another order." : parts.join(" ");
}

/** Returns true if two reads of a state have the same entries, also without secrets. */
export const hasSameEntries = (one: State, other: State): boolean =>
  one.lineage === other.lineage && one.serial === other.serial && stateDigest(one) === stateDigest(other);

function stateDigest({ resources }: State): string {
  const lines = [...resources.keys()].sort().map((address) => {
    const { attributes, sensitive = [], private: mark, provider } = resources.get(address) ?? {};
    const open = Object.entries(attributes ?? {}).filter(([name]) => !sensitive.includes(name));
    const begun = [mark?.generation, mark?.pending?.since, mark?.attempt?.since, mark?.deposed?.id];
    return JSON.stringify([address, provider, open.toSorted(([a], [b]) => (a < b ? -1 : 1)), begun]);
  });
  return hash("sha256", lines.join(""));
}
