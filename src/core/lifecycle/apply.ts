import type { Created } from "../kinds/kind.ts";
import {
  type Change,
  equal,
  type Invoice,
  invoiceOf,
  isReplacement,
  type JsonObject,
  type ValueObject,
} from "../model/index.ts";
import { recordedOnly, recordOf, targetAttributes, without } from "./attributes.ts";
import { type Applied, type ApplyContext, ended } from "./context.ts";
import { create, refuseTaken, writeOut } from "./create.ts";
import { reportOutcome } from "./create-turn.ts";
import { deleteObject, isYoung, sendSteps, subjectOf } from "./in-place.ts";
import { billOf } from "./invoices.ts";
import { formNotices, formsTried, withForms } from "./own-forms.ts";
import { isPendingCreate, withoutRequests } from "./pending-create.ts";
import { drop, type Progress, save } from "./perform.ts";
import { withdraw } from "./resolve.ts";
import { stepsToward, tryOutput } from "./secrets.ts";
import { unknownAtOnce } from "./status.ts";

/**
 * Applies one change. hostform saves each response before it sends the next request.
 *
 * 1. tryOutput: check that a one-time secret can be written.
 * 2. remove, record, replace, createNew or update: send the requests.
 * 3. reportPlanned: save in the store the result of an earlier create request that the plan settled.
 * 4. ended: return the result or throw the errors.
 *
 * @param config Evaluated declared attributes with write-only values. Null for removals.
 * @throws HostformError; completed steps are already in the state.
 */
export async function applyChange(
  kind: Progress["kind"],
  change: Change,
  config: ValueObject | null,
  context: ApplyContext,
): Promise<Applied> {
  const declared = (config ?? {}) as JsonObject;
  await tryOutput(kind, change, declared, context);
  const { created: _, ...older } = withoutRequests(change.private);
  const mark = isYoung(change, context) ? withoutRequests(change.private) : older;
  const progress: Progress = {
    kind,
    change,
    config: declared,
    context,
    diagnostics: [],
    attributes: change.before ?? {},
    mark,
  };
  const isRemoved = await carryOutOf(change)(progress);
  await reportPlanned(progress);
  const { attributes, diagnostics, invoice, awaiting, unclear } = progress;
  return ended({
    attributes: isRemoved === true ? null : attributes,
    diagnostics,
    ...(unclear && { unclear }),
    ...(awaiting && { awaiting }),
    ...(invoice && { invoice }),
  });
}

/** Saves in the store the outcome of an earlier run's create request that the plan settled. */
async function reportPlanned({ kind, change, attributes, context }: Progress): Promise<void> {
  const { account, records, run } = context;
  if (!isPendingCreate(records.prior) || change.private.pending !== undefined) return;
  const isMade = typeof (change.before?.id ?? attributes.id) === "string";
  await reportOutcome(account, kind, records.prior, isMade, run.owner?.());
}

/** Selects the function for a change. @returns a function that resolves to true if the resource leaves the state. */
function carryOutOf(change: Change): (progress: Progress) => Promise<unknown> {
  const [first] = change.actions;
  if (change.removal !== undefined) return remove;
  if (first === "no-op") return record;
  if (isReplacement(change)) return first === "create" ? replaceCreateFirst : replaceDeleteFirst;
  return first === "create" ? createNew : update;
}

/** Changes only the state: an import, or attributes that the API does not have. */
async function record(progress: Progress): Promise<void> {
  const { kind, change, config, attributes } = progress;
  progress.attributes = { ...attributes, ...recordedOnly(kind, change, config, attributes) };
  await save(progress);
  await writeOut(progress);
}

async function createNew(progress: Progress): Promise<void> {
  const { kind, config } = progress;
  const made = await create(progress, (next) => putBack(progress, next));
  await deleteDeposed(progress);
  // hostform changes nothing while the status is unknown. Attributes that need a live object wait.
  const { phase = "live", invoice } = made;
  const later = kind.deferred?.(phase === "unknown" ? "pending" : phase) ?? [];
  if (kind.update !== undefined && !made.replayed) {
    const wanted = { ...progress.attributes, ...without(config, later) };
    if (await changeInPlace(progress, wanted)) await save(progress);
    await writeOut(progress);
  }
  progress.invoice = invoice ?? (made.replayed && phase === "pending" ? await invoiceOfAdopted(progress) : null);
  if (phase === "pending") progress.awaiting = progress.invoice?.paid ? "provisioning" : "payment";
  if (phase === "unknown") awaitUnknown(progress, later, made);
}

/** Returns the invoice of an adopted order whose response was lost. Null if the invoice cannot be read. */
async function invoiceOfAdopted({ attributes, context }: Progress): Promise<Invoice | null> {
  const id = String(attributes.id);
  const bill = billOf(await context.account.invoices.of([id]).catch(() => undefined), id);
  const first = bill?.open[0] ?? bill?.paid[0];
  return first === undefined ? null : invoiceOf(first);
}

async function update(progress: Progress): Promise<void> {
  const { kind, change, config } = progress;
  await deleteDeposed(progress);
  await changeInPlace(progress, targetAttributes(kind, change, config, progress.attributes));
  await record(progress);
}

async function replaceCreateFirst(progress: Progress): Promise<void> {
  // The state has room for one deposed object. Delete the object of an earlier replacement first.
  await deleteDeposed(progress);
  const { attributes, mark } = progress;
  progress.mark = { ...mark, deposed: attributes };
  await create(progress, () => save(Object.assign(progress, { attributes, mark })));
  await deleteDeposed(progress);
}

async function replaceDeleteFirst(progress: Progress): Promise<void> {
  const places = await refuseTaken(progress);
  try {
    await deleteObject(progress, progress.attributes, progress.mark, places.remove);
    await drop(progress);
    await create(progress, () => drop(progress), places.create);
  } finally {
    for (const ticket of Object.values(places)) ticket?.release();
  }
}

async function remove(progress: Progress): Promise<unknown> {
  const { kind, change, attributes } = progress;
  if (change.removal === "suspend") await sendSteps(progress, kind.suspendSteps?.(attributes) ?? []);
  if (change.removal === "delete") {
    await deleteDeposed(progress);
    await deleteObject(progress, attributes);
  }
  // The resource leaves the state only after the suspension is visible. Until then, each run checks again.
  if (progress.awaiting !== undefined) return;
  await drop(progress);
  return true;
}

/**
 * Restores the state entry from before a create request. The entry of a deleted service stays, because `--reorder` applies to
 * only one run. The order generation also stays, so that the next order has a new key. If the request was part of a
 * replacement, the old object still exists.
 * @param next Generation of the next order, if the key of the rejected order is used up.
 */
async function putBack(progress: Progress, next?: number): Promise<void> {
  const { kind, change, attributes, mark, context } = progress;
  const { prior } = context.records;
  const restored =
    prior !== undefined && prior.private.pending === undefined
      ? withGeneration(prior, next)
      : withdraw(
          recordOf(
            kind,
            change,
            { ...attributes, id: null },
            { ...mark, ...(next !== undefined && { generation: next }) },
          ),
        );
  if (restored === undefined) return drop(progress);
  await context.fate.record(() => context.records.save(restored));
}

type Resource = NonNullable<ApplyContext["records"]["prior"]>;

function withGeneration(prior: Resource, next: number | undefined): Resource {
  if (next === undefined) return prior;
  // The entry of a deleted service has that service's generation. `--reorder` adds one.
  const generation = typeof prior.attributes.id === "string" ? next - 1 : next;
  return { ...prior, private: { ...prior.private, generation } };
}

/**
 * Sends the steps of an in-place change.
 * @returns true if the normalized values in the state entry changed. The caller saves them.
 */
async function changeInPlace(progress: Progress, wanted: JsonObject): Promise<boolean> {
  const { kind, change, attributes: from, config, context, mark } = progress;
  await sendSteps(progress, await stepsToward(kind, from, wanted, config, context));
  if (progress.awaiting === "status") return false;
  const before = mark.shown ?? {};
  const forms = formsTried(kind, { from, wanted, after: progress.attributes }, before);
  if (equal(forms, before)) return false;
  progress.mark = withForms(progress.mark, forms);
  const { address, sensitive } = change;
  progress.diagnostics.push(...formNotices({ kind, address, sensitive }, before, forms, true));
  return true;
}

/**
 * Sets the reason why a new object with an unknown status is incomplete. An unpaid invoice comes first, because only the
 * payment can make the service live (§1).
 */
function awaitUnknown(progress: Progress, later: readonly string[], { invoice }: Created): void {
  const names = later.filter((name) => (progress.config[name] ?? false) !== false);
  if (names.length > 0) progress.diagnostics.push(unknownAtOnce(subjectOf(progress), names));
  const isUnpaid = invoice !== null && invoice.paid !== true;
  progress.awaiting = isUnpaid ? "payment" : names.length > 0 ? "status" : undefined;
}

/** Deletes the replaced object if it still exists. */
async function deleteDeposed(progress: Progress): Promise<void> {
  const { deposed, ...rest } = progress.mark;
  if (deposed === undefined) return;
  await deleteObject(progress, deposed);
  progress.mark = rest;
  await save(progress);
}
