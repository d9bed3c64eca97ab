/** Runs `hostform mandate …`: keys, mandates and receipts. No command sends a request that changes the account. */
import path from "node:path";
import { exists } from "../core/files/index.ts";
import { problem } from "../core/messages/index.ts";
import { attempt, didYouMean, type EnvVars, effectsOf, equal, ifExplained, utf8 } from "../core/model/index.ts";
import { createMandate, MANDATE_KINDS, type MandateFlags } from "../project/mandate/create.ts";
import { approverOf, decodeMandate, decodeReceipt, MOST_BYTES, runnerOf } from "../project/mandate/document.ts";
import { APPROVER, createKey, RUNNER, trustedKeys } from "../project/mandate/keys.ts";
import { leftOf, type MandateRecord } from "../project/mandate/ledger.ts";
import { receiptsIn, recordsIn, revokeMandate, type StoredReceipt, withLedgers } from "../project/mandate/ledgers.ts";
import { mandateIn } from "../project/mandate/run.ts";
import { placeForOutput, writeOutput } from "../project/output-place.ts";
import {
  escapeLine,
  type MandateRow,
  mandateLines,
  moneyLines,
  type ReceiptRow,
  renderMandates,
  renderReceipts,
} from "../report/index.ts";
import { orRefuse, readUpTo } from "./files.ts";
import { raise as raiseUsage } from "./messages.ts";
import { type Action, printJson, printResult, type Switches, say } from "./terminal.ts";

/** Runs `hostform mandate key FILE`: writes a new private key, and prints its public key. */
export const runMandateKey: Action<object, [file: string]> = async (terminal, { source }, _, file) => {
  const write = async () => createKey(path.resolve(source.cwd, file));
  const public_key = await orRefuse(write(), (why) => problem("mandate.key/written", { of: file, why }));
  printResult(terminal, "mandate key", { file, public_key }, `${public_key}\n`);
  say(terminal, `The private key is in ${file}. Add NAME=${public_key} to HOSTFORM_APPROVERS, or to HOSTFORM_RUNNERS.`);
  return 0;
};

interface CreateFlags extends MandateFlags {
  readonly out?: string;
}

/** Runs `hostform mandate create [PLAN]`. Prints the mandate, or writes it to a file. The summary is on standard error. */
export const runMandateCreate: Action<CreateFlags, [plan?: string]> = async (terminal, project, flags, file) => {
  const { kinds = [], uses = 1, out } = flags;
  const value = kinds.find((kind) => !MANDATE_KINDS.includes(kind));
  if (value !== undefined) {
    const reason = `The kinds are ${MANDATE_KINDS.join(", ")}.${didYouMean(value, MANDATE_KINDS)}`;
    raiseUsage("usage/value", { command: "mandate create", place: "--kinds", value, reason });
  }
  if (file !== undefined && uses > 1) raiseUsage("usage/combined", { options: "--uses and a saved plan" });
  if (file === undefined && kinds.length === 0)
    raiseUsage("usage/required", { command: "mandate create", flags: "--kinds" });
  // A wrong place is an error before the key is used.
  if (out !== undefined) await placeForOutput(project.source, out, "mandate");
  const { mandate, text, plan, moneyScale, warnings } = await createMandate(project, flags, file);
  if (out !== undefined) await writeOutput(project.source, out, "mandate", text);
  if (terminal.json) printJson(terminal, "mandate create", { mandate, file: out ?? null, text });
  else if (out === undefined) terminal.exact(text, "The mandate");
  project.log.warn(...warnings);
  // The approver decides by every effect.
  const effects = plan === undefined ? [] : effectsOf(plan).map(({ sentence }) => `  ${escapeLine(sentence)}`);
  const money = plan === undefined ? [] : moneyLines(plan, moneyScale);
  for (const line of [...mandateLines(mandate, moneyScale), ...effects, ...money]) say(terminal, line);
  return 0;
};

function rowOf(record: MandateRecord, now: number): MandateRow {
  const { id, mandate, revoked, uses } = record;
  const left = mandate && leftOf(mandate, record);
  const isExpired = mandate !== null && Date.parse(mandate.expires) <= now;
  const status = revoked !== null ? "revoked" : isExpired ? "expired" : left?.uses === 0 ? "used_up" : "in_force";
  return { id, status, revoked, mandate, left, uses: uses.map(({ text: _, ...use }) => use) };
}

/** Runs `hostform mandate list`. Sends no request. */
export const runMandateList: Action = async (terminal, project) => {
  const records = await withLedgers(project, recordsIn);
  const rows = records.map((one) => rowOf(one, project.host.clock.now()));
  printResult(terminal, "mandate list", rows, renderMandates(rows, await project.declaration.moneyScale()));
  return 0;
};

/** Runs `hostform mandate revoke ID|FILE`. Checks the signature of the file if the public keys of the approvers are set. */
export const runMandateRevoke: Action<object, [named: string]> = async (terminal, project, _, named) => {
  const { source, log } = project;
  const isFile = exists(path.resolve(source.cwd, named));
  const text = isFile ? (await mandateIn(source, named)).text : undefined;
  const mandate = text === undefined ? undefined : decodeMandate(text, named);
  // An edited file has another id, so its revocation stops nothing.
  const isProved = text !== undefined && source.env[APPROVER.trusted] !== undefined;
  if (isProved) approverOf(text, named, source.env);
  const { id } = mandate ?? { id: named };
  const { isNew, isKnown, isShared } = await revokeMandate(project, id, mandate);
  if (terminal.json) printJson(terminal, "mandate revoke", { id, revoked: isNew, shared: isShared, known: isKnown });
  say(terminal, isNew ? `Mandate ${id} is revoked.` : `Mandate ${id} was revoked before.`);
  if (!isProved && !isKnown) log.warn(problem("mandate.revoked/unknown", { id }));
  if (!isShared) log.warn(problem("mandate.revoked/local", { id }));
  return 0;
};

/** Returns the proof of a receipt. */
function proofOf(
  { receipt, text }: Pick<StoredReceipt, "receipt" | "text">,
  env: EnvVars,
): Pick<ReceiptRow, "signature" | "signed_by"> {
  const none = { signed_by: null };
  if (!text?.includes("\nsignature: ")) return { ...none, signature: "missing" };
  const signed_by = attempt(
    () => (equal(decodeReceipt(text, ""), receipt) ? runnerOf(text, "", env) : null),
    ifExplained(() => null),
  );
  return { signed_by, signature: signed_by === null ? "invalid" : "valid" };
}

/** Runs `hostform mandate receipts [FILE…]`. With `--verify`, returns 1 if a receipt has no valid signature. */
export const runMandateReceipts: Action<Switches<"verify">, [files: readonly string[]]> = async (
  terminal,
  project,
  { verify = false },
  files,
) => {
  const { env, cwd } = project.source;
  if (verify) trustedKeys(env, RUNNER);
  const read = async (file: string): Promise<StoredReceipt> => {
    const why = (reason: string) => problem("mandate.file", { file, what: "receipt", why: reason });
    const text = await orRefuse(readUpTo(path.resolve(cwd, file), MOST_BYTES).then(utf8), why);
    const receipt = decodeReceipt(text, file);
    const { mandate, use, began, orders } = receipt;
    return { mandate, use, began, receipt, text, file, orders };
  };
  const found = await (files.length > 0
    ? Promise.all(files.map(read))
    : withLedgers(project, async (all) => receiptsIn(await recordsIn(all))));
  const unchecked = { signature: "not_checked", signed_by: null } as const;
  const rows = found.map(
    ({ text, ...row }): ReceiptRow => ({ ...row, ...(verify ? proofOf({ ...row, text }, env) : unchecked) }),
  );
  printResult(terminal, "mandate receipts", rows, renderReceipts(rows, await project.declaration.moneyScale()));
  return rows.every(({ signature }) => signature === "valid" || signature === "not_checked") ? 0 : 1;
};
