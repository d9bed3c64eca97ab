/** Requests for an existing object: in-place changes and the deletion. */
import type { Mutation, MutationName, Ticket } from "../api/index.ts";
import type { ChangeStep, Remote } from "../kinds/kind.ts";
import { problem } from "../messages/index.ts";
import {
  type ApiError,
  type Change,
  isNotFound,
  type JsonObject,
  type PrivateMark,
  type QueuedJob,
} from "../model/index.ts";
import { parentOf, refreshed } from "./attributes.ts";
import { type ApplyContext, busyPause, isBusy, wasRefused } from "./context.ts";
import { intentOf } from "./intents.ts";
import { isJustCreated } from "./pending-create.ts";
import { type Progress, perform, save } from "./perform.ts";
import { observedMark, unclearEnd } from "./status.ts";

/** Returns true while list lag may hide the object. */
export const isYoung = ({ private: mark }: Change, { account }: ApplyContext) => isJustCreated(mark, account);

/** Sends the requests of an in-place change one by one. Each response is saved before the next request. */
export async function sendSteps(progress: Progress, steps: readonly ChangeStep[]): Promise<void> {
  for (const step of steps) {
    // hostform sends no more requests if the status became unknown.
    if (progress.awaiting === "status") return;
    const { toward, mutation } = step;
    const { job: _, suspended: earlier, ...rest } = progress.mark;
    const { status } = progress.attributes;
    const since = new Date(progress.context.account.hostNow()).toISOString();
    const job = toward && { since, toward, before: typeof status === "string" ? status : null };
    // After a restore, a later suspension has its own time.
    const suspended = toward === "suspended" ? { declared: true as const } : earlier?.declared && earlier;
    const asked = job === undefined ? progress.mark : { ...rest, job, ...(suspended && { suspended }) };
    await begin(progress, mutation, asked, progress.mark, async (answer) => {
      const { once, ...accepted } = step.accept(answer as Parameters<typeof step.accept>[0]);
      const { emptied, ...others } = asked;
      const isSame = emptied === mutation.endpoint;
      const isFirst = once !== undefined && !isSame;
      progress.mark = isFirst ? { ...asked, emptied: mutation.endpoint } : isSame ? others : asked;
      const { attributes, warning } = isFirst ? once : accepted;
      progress.attributes = { ...progress.attributes, ...attributes };
      if (warning !== undefined) progress.diagnostics.push({ ...warning, address: progress.change.address });
      await save(progress);
    });
    if (job !== undefined) await awaitJob(progress, job);
  }
}

/** Waits for a queued job. If the status is unknown afterwards, the user must interpret it. */
async function awaitJob(progress: Progress, job: QueuedJob): Promise<void> {
  const { kind, change, context, attributes, mark } = progress;
  const done = ({ phase }: Remote) => phase === job.toward;
  const parent = parentOf(kind, attributes);
  const remote = await context.watch.wait(kind, change.address, String(attributes.id), parent, done);
  if (remote === undefined) progress.awaiting = "job";
  else {
    progress.attributes = refreshed(kind, attributes, remote, mark.shown);
    progress.mark = observedMark(mark, remote.phase);
    if (!done(remote)) {
      progress.awaiting = "status";
      progress.unclear = unclearEnd({ ...subjectOf(progress), job });
    }
  }
  await save(progress);
}

/**
 * Sends a request that creates nothing. Retries while the host is busy. The state entry lacks the body, so that it contains
 * no password.
 * @param refused Private part of the entry, to save if the host certainly did not process the request.
 */
async function begin(
  progress: Progress,
  mutation: Mutation,
  mark: PrivateMark,
  refused: PrivateMark,
  answered: (answer: unknown) => Promise<void>,
  ticket?: Ticket,
): Promise<void> {
  const { context } = progress;
  for (let waitedMs = 0; ; ) {
    const busy = await perform<MutationName, { readonly ms: number; readonly error: ApiError } | undefined>(context, {
      mutation,
      ticket: waitedMs === 0 ? ticket : undefined,
      record: () => {
        const { body: _, ...attempt } = intentOf(mutation, context.account.hostNow());
        return save(progress, { ...mark, attempt });
      },
      answered: async (answer) => void (await answered(answer)),
      failed: async (error) => {
        const busyMs = busyPause(error, waitedMs);
        if (busyMs !== undefined && isBusy(error)) return { ms: busyMs, error };
        if (wasRefused(error)) await save(progress, refused);
        throw error;
      },
    });
    if (busy === undefined) return;
    await context.run.pause(busy.ms, busy.error);
    waitedMs += busy.ms;
  }
}

/**
 * Deletes an object. A 404 means that the object is deleted, even if the list still contains it as active: some hosts keep
 * entries of deleted objects. hostform then sends DELETE twice, because a router may have returned the first 404.
 * @param ticket Reserved slot within the request limit.
 */
export async function deleteObject(
  progress: Progress,
  attributes: JsonObject,
  mark = progress.mark,
  ticket?: Ticket,
): Promise<void> {
  const { kind, change, context, diagnostics } = progress;
  const { account } = context;
  if (kind.remove === undefined) throw new Error(`${kind.type} has no request that removes it`);
  const request = kind.remove(attributes);
  const send = (own?: Ticket) =>
    begin(progress, request, mark, mark, async () => void context.fate.did.add("delete"), own);
  try {
    await send(ticket);
  } catch (error) {
    const parent = parentOf(kind, progress.attributes);
    // If the account confirms that the object does not exist, the deletion is complete.
    account.forget(kind, parent);
    const id = String(attributes.id);
    const asks = async () => {
      const again: unknown = await send().catch((second: unknown) => second);
      if (again === undefined) return false;
      if (!isNotFound(again)) throw again;
      diagnostics.push(problem("plan.gone/listed", { address: change.address, noun: kind.noun, object: id }));
      return true;
    };
    const isMissing = await account.isMissing(error, kind, id, parent, asks);
    // The list may lack a new object, and a proxy may return 404. For a new object, only a 404 of the API itself counts.
    const isUnlisted = attributes.id === change.before?.id && isYoung(change, context);
    if (!isMissing || (isUnlisted && !isNotFound(error))) throw error;
  }
}

/** Returns the parameters of messages about the status of an object. */
export const subjectOf = ({ kind, change: { address, provider }, attributes, mark: { job } }: Progress) => ({
  kind,
  address,
  provider,
  attributes,
  job,
});
