import { hash, scryptSync } from "node:crypto";
import path from "node:path";
import { read } from "../core/files/index.ts";
import {
  type AccountMark,
  type Change,
  type Desired,
  equal,
  formatMoney,
  isNoOp,
  type Plan,
  type ProviderConfig,
  type Quote,
  type State,
  some,
} from "../core/model/index.ts";
import { firstOf, formatNumber, type MoneyScale } from "../report/index.ts";
import { raise } from "./messages.ts";
import type { Redaction } from "./redaction.ts";
import type { ProjectSource } from "./source.ts";

/** Records the origin of a plan: state, declaration and accounts. A plan cannot be applied to another origin. */
export interface Origin {
  readonly lineage: string;
  readonly serial: number;
  /**
   * Digest of the state entries without secrets. The digest does not depend on the serial, which an unmerged journal
   * leaves unchanged.
   */
  readonly state: string;
  readonly project: string;
  /** Files of the declaration, in order. */
  readonly declaration: readonly FileDigest[];
  /** Provider alias -> URL of its API, or null. */
  readonly accounts: Readonly<Record<string, string | null>>;
  /** Identity of each account. Undefined if an earlier version made the plan. */
  readonly identities?: Readonly<Record<string, AccountMark>>;
}

/** A file of the declaration: its path relative to the project's folder, and the SHA-256 of its bytes. */
interface FileDigest {
  readonly file: string;
  readonly digest: string;
}

/** Returns the origin of this run from the declaration and the open state. */
export async function originOf(source: ProjectSource, desired: Desired, state: State): Promise<Origin> {
  const addressOf = ({ baseUrl = source.env.HOSTING_BASE_URL }: ProviderConfig) => baseUrl?.replace(/\/+$/, "") || null;
  return {
    lineage: state.lineage,
    serial: state.serial,
    state: stateDigest(state),
    project: desired.project,
    declaration: [...(await declarationDigests(source, desired)), ...stackDigests(source)],
    accounts: Object.fromEntries([...desired.providers].map(([alias, config]) => [alias, addressOf(config)])),
  };
}

const stale = (summary: string, detail: string) => raise("plan.saved/stale", { summary, detail });

/** Rejects a plan of another origin. @throws HostformError `plan.saved` with the difference. */
export function checkOrigin(saved: Origin, here: Origin): void {
  if (saved.lineage !== here.lineage && saved.lineage !== "") {
    const found = here.lineage === "" ? "here there is none" : `here it is ${here.lineage}`;
    stale("The plan was created from another state", `Its lineage is ${saved.lineage}; ${found}.`);
  }
  if (saved.serial !== here.serial || saved.lineage !== here.lineage) {
    const when = `The serial of the state was ${saved.serial} in the plan and is ${here.serial} now. Another command has changed the state since; perhaps it applied this plan.`;
    stale("The state has changed since the plan was created", when);
  }
  if (saved.state !== here.state) {
    stale("The state has changed since the plan was created", "An interrupted apply has changed it.");
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
 * Compares a saved plan with the present plan. Returns one sentence for each difference. Read-only attributes (a due
 * date, a status) may differ. Actions, objects and prices may not differ.
 * @param redaction hides the same values in each plan.
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

/** Rejects the apply if the account has changed since the plan. @throws HostformError `plan.saved`. */
export function refuseDifferences(found: readonly string[]): void {
  if (found.length > 0) stale("The plan no longer matches the account", firstOf(found, MOST_NAMED).join("\n"));
}

/** Returns true if a change affects the account or the address of a state entry. */
const isShown = (change: Change) => !isNoOp(change) || change.previousAddress !== undefined;

type Outline = Readonly<Record<string, unknown>>;

/** Returns the parts of a change that an approver has approved. */
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

/** Formats a price as in the saved plans of every version. The string is only compared. */
function priceOf({ billed, list, currency }: Quote): string {
  const amount = billed ?? list;
  return amount === null ? "unknown" : `${formatNumber(amount)} ${currency}`;
}

async function declarationDigests(source: ProjectSource, { files }: Desired): Promise<FileDigest[]> {
  const paths = files.map((file) => path.resolve(source.cwd, file));
  return Promise.all(
    paths.map(async (file) => {
      return { file: path.relative(source.dir, file), digest: hash("sha256", await read(file)) };
    }),
  );
}

/**
 * Returns the language of a stack and one digest of its variables. The digest is slow to compute, so that no reader of
 * a plan can guess a password.
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

/** Describes the changed files: `Changed: hosting.yaml. New: b.hosting.yaml. No longer there: c.hosting.yaml.` */
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

function stateDigest({ resources }: State): string {
  const lines = [...resources.keys()].sort().map((address) => {
    const { attributes, sensitive = [], private: mark, provider } = resources.get(address) ?? {};
    const open = Object.entries(attributes ?? {}).filter(([name]) => !sensitive.includes(name));
    const begun = [mark?.generation, mark?.pending?.since, mark?.attempt?.since, mark?.deposed?.id];
    return JSON.stringify([address, provider, open.toSorted(([a], [b]) => (a < b ? -1 : 1)), begun]);
  });
  return hash("sha256", lines.join(""));
}
