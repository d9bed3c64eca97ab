/** Runs `hostform mandate …`: keys, mandates and receipts. No command sends a request that changes the account. */
import path from "node:path";
import { problem, raise } from "../core/messages/index.ts";
import { attempt, didYouMean, effectsOf, equal, ifExplained, type Mandate } from "../core/model/index.ts";
import { createMandate, MANDATE_KINDS } from "../project/mandate/create.ts";
import { decodeMandate, decodeReceipt, runnerOf } from "../project/mandate/document.ts";
import { createKey, RUNNER, trustedKeys } from "../project/mandate/keys.ts";
import { leftOf, type MandateRecord } from "../project/mandate/ledger.ts";
import { receiptsIn, recordsIn, revokeIn, type StoredReceipt, withLedgers } from "../project/mandate/ledgers.ts";
import type { Project } from "../project/project.ts";
import { placeForPlan, writeMandate } from "../project/saved-plan.ts";
import {
  escapeLine,
  firstOf,
  type MandateRow,
  mandateLines,
  type ReceiptRow,
  renderMandates,
  renderReceipts,
} from "../report/index.ts";
import { orRefuse, readIfPresent, readText } from "./files.ts";
import { raise as raiseUsage } from "./messages.ts";
import { type Action, printJson, printResult, type Switches, say } from "./terminal.ts";

/** Runs `hostform mandate key FILE`: writes a new private key, and prints its public key. */
export const runMandateKey: Action<object, [file: string]> = async (terminal, { source }, _, file) => {
  const write = async () => createKey(path.resolve(source.cwd, file));
  const public_key = await orRefuse(write(), (why) => problem("mandate.key/written", { file, why }));
  printResult(terminal, "mandate key", { file, public_key }, `${public_key}\n`);
  say(terminal, `The private key is in ${file}. Add NAME=${public_key} to HOSTFORM_APPROVERS, or to HOSTFORM_RUNNERS.`);
  return 0;
};

interface CreateFlags {
  readonly kinds?: readonly string[];
  readonly maxOrders?: number;
  readonly maxSpend?: Readonly<Record<string, number>>;
  readonly maxRemovals?: number;
  readonly target?: readonly string[];
  /** False for `--no-offline`. */
  readonly offline: boolean;
  readonly expires: number;
  readonly uses?: number;
  readonly out?: string;
}

/** Maximum number of printed effects of a plan. */
const MOST_EFFECTS = 20;

/** Runs `hostform mandate create [PLAN]`. Prints the mandate, or writes it to a file. The summary is on standard error. */
export const runMandateCreate: Action<CreateFlags, [plan?: string]> = async (terminal, project, flags, file) => {
  const { kinds, target: targets, offline, expires: lifetimeMs, out, uses, ...limits } = flags;
  for (const value of kinds ?? [])
    if (!MANDATE_KINDS.includes(value)) {
      const reason = `The kinds are ${MANDATE_KINDS.join(", ")}.${didYouMean(value, MANDATE_KINDS)}`;
      raiseUsage("usage/value", { command: "mandate create", place: "--kinds", value, reason });
    }
  if (file !== undefined && (uses ?? 1) > 1) raiseUsage("usage/saved_plan", { flag: "--uses" });
  // A wrong place is an error before the key is used.
  if (out !== undefined) await placeForPlan(project.source, out, "mandate");
  const asked = { ...limits, kinds, targets, uses, lifetimeMs, noOffline: !offline };
  const { mandate, text, plan, warnings } = await createMandate(project, asked, file);
  if (out !== undefined) await writeMandate(project.source, out, text);
  else if (terminal.json) printJson(terminal, "mandate create", { mandate, file: null, text });
  else terminal.exact(text, "The mandate");
  if (out !== undefined && terminal.json) printJson(terminal, "mandate create", { mandate, file: out, text });
  project.log.warn(...warnings);
  for (const line of mandateLines(mandate, await scaleIn(project, mandate))) say(terminal, line);
  const effects = plan === undefined ? [] : effectsOf(plan).map(({ sentence }) => sentence);
  for (const line of firstOf(effects, MOST_EFFECTS)) say(terminal, `  ${escapeLine(line)}`);
  return 0;
};

/** Returns the decimals of amounts in a mandate or a receipt. */
async function scaleIn(project: Project, mandate?: Mandate) {
  const scale = await project.declaration.moneyScale();
  const [alias = "default"] = Object.keys(mandate?.accounts ?? {});
  return (currency: string) => scale(currency, alias);
}

function rowOf(record: MandateRecord, now: number): MandateRow {
  const { id, mandate, revoked, uses } = record;
  const left = mandate && leftOf(mandate, record);
  const isExpired = mandate !== null && Date.parse(mandate.expires) <= now;
  const status = revoked !== null ? "revoked" : isExpired ? "expired" : left?.uses === 0 ? "used_up" : "in_force";
  const runs = uses.map(({ use, began, plan, receipt }) => ({ use, began, plan, complete: receipt?.complete ?? null }));
  return { id, status, revoked, mandate, left, uses: runs };
}

/** Runs `hostform mandate list`. Sends no request. */
export const runMandateList: Action = async (terminal, project) => {
  const records = await withLedgers(project, recordsIn);
  const rows = records.map((one) => rowOf(one, project.host.clock.now()));
  printResult(
    terminal,
    "mandate list",
    rows,
    renderMandates(rows, await scaleIn(project, records[0]?.mandate ?? undefined)),
  );
  return 0;
};

/** Runs `hostform mandate revoke ID|FILE`. */
export const runMandateRevoke: Action<object, [named: string]> = async (terminal, project, _, named) => {
  const text = await readIfPresent(path.resolve(project.source.cwd, named));
  const mandate = text === undefined ? undefined : decodeMandate(text, named);
  const id = mandate?.id ?? named;
  const isNew = await withLedgers(project, async (ledgers) => {
    const isKnown = UUID.test(id) || (await recordsIn(ledgers)).some((one) => one.id === id);
    if (mandate === undefined && !isKnown)
      raise("mandate.file", { file: named, what: "mandate", why: "there is no such file, and no mandate has this id" });
    return revokeIn(ledgers, id, mandate);
  });
  if (terminal.json) printJson(terminal, "mandate revoke", { id, revoked: isNew });
  say(terminal, isNew ? `Mandate ${id} is revoked.` : `Mandate ${id} was revoked before.`);
  return 0;
};

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Runs `hostform mandate receipts [FILE…]`. With `--verify`, returns 1 if a receipt has no valid signature. */
export const runMandateReceipts: Action<Switches<"verify">, [files: readonly string[]]> = async (
  terminal,
  project,
  { verify = false },
  files,
) => {
  const { env, cwd } = project.source;
  if (verify) trustedKeys(env, RUNNER);
  const read = async (file: string) => {
    const why = (reason: string) => problem("mandate.file", { file, what: "receipt", why: reason });
    const text = await orRefuse(readText(path.resolve(cwd, file)), why);
    return { receipt: decodeReceipt(text, file), text, file };
  };
  const stored = async () => {
    const all: readonly StoredReceipt[] = await withLedgers(project, receiptsIn);
    return all.map((one) => ({ ...one, file: null }));
  };
  const found = await (files.length > 0 ? Promise.all(files.map(read)) : stored());
  const rows = found.map(({ receipt, text, file }): ReceiptRow => {
    const base = { receipt, file, signed_by: null };
    if (!verify) return { ...base, signature: "not_checked" };
    if (text === null) return { ...base, signature: "missing" };
    const name = file ?? `mandate ${receipt.mandate}, use ${receipt.use}`;
    return attempt(
      (): ReceiptRow => {
        const signed_by = runnerOf(text, name, env);
        return { ...base, signed_by, signature: equal(decodeReceipt(text, name), receipt) ? "valid" : "invalid" };
      },
      ifExplained((): ReceiptRow => ({ ...base, signature: text.includes("\nsignature: ") ? "invalid" : "missing" })),
    );
  });
  const { orders: [order] = [] } = rows[0]?.receipt ?? {};
  const scale = await project.declaration.moneyScale();
  const text = renderReceipts(rows, (currency) => scale(currency, order?.provider ?? "default"));
  printResult(terminal, "mandate receipts", rows, text);
  return rows.every(({ signature }) => signature === "valid" || signature === "not_checked") ? 0 : 1;
};
