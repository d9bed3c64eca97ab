/**
 * Requests for an object that exists: the steps of an in-place change, and its deletion.
 */
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
import { formsOf, parentOf, refreshed } from "./attributes.ts";
import { type ApplyContext, busyPause, isBusy, wasRefused } from "./context.ts";
import { intentOf } from "./creating.ts";
import { isJustCreated } from "./pending-create.ts";
import { type Progress, perform, save } from "./perform.ts";
import { observedMark, unclearEnd } from "./status.ts";

/** Returns true while list lag may hide the object. */
export const isYoung = ({ private: mark }: Change, { account }: ApplyContext) =>
  isJustCreated(mark, account.settings, account.hostNow());

/** Sends the requests of an in-place change one by one; each answer is recorded before the next request. */
export async function sendSteps(progress: Progress, steps: readonly ChangeStep[]): Promise<void> {
  for (const step of steps) {
    // Nothing more is sent for an object with a status that hostform does not know.
    if (progress.awaiting === "status") return;
    const { toward, mutation } = step;
    const { job: _, ...rest } = progress.mark;
    const { status } = progress.attributes;
    const since = new Date(progress.context.account.hostNow()).toISOString();
    const job = toward && { since, toward, before: typeof status === "string" ? status : null };
    const suspended = toward === "suspended" && { suspended: { declared: true as const } };
    const asked = job === undefined ? progress.mark : { ...rest, job, ...suspended };
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

/** Waits for a queued job. If the status does not show the end of the job now, only the user can say what it means. */
async function awaitJob(progress: Progress, job: QueuedJob): Promise<void> {
  const { kind, change, context, attributes, mark } = progress;
  const done = ({ phase }: Remote) => phase === job.toward;
  const parent = parentOf(kind, attributes);
  const remote = await context.watch.wait(kind, change.address, String(attributes.id), parent, done);
  if (remote === undefined) progress.awaiting = "job";
  else {
    progress.attributes = refreshed(kind, attributes, remote, formsOf(mark, attributes));
    progress.mark = observedMark(mark, remote.phase);
    if (!done(remote)) {
      progress.awaiting = "status";
      progress.unclear = unclearEnd({ ...subjectOf(progress), job });
    }
  }
  await save(progress);
}

/**
 * Sends a request other than a create, again while the host is busy with another one. Its record has no body: a password is not
 * recorded.
 * @param refused the mark if the request was certainly not carried out.
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
 * Deletes an object of the kind. One that the API does not find has ended, also if its list still shows it as alive: hosts keep
 * rows of what has ended. Then the API is asked twice, because a router may have answered the first time.
 * @param ticket a place within the request limit that was booked for it.
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
    // An object that is gone already is what was wanted, if the account confirms it.
    account.forget(kind, parent);
    // List lag may hide a new object, so only the API itself can say that it is gone; a proxy may answer 404 too.
    const isUnlisted = attributes.id === change.before?.id && isYoung(change, context);
    if (isUnlisted && !isNotFound(error)) throw error;
    const id = String(attributes.id);
    const asks = async () => {
      const again: unknown = await send().catch((second: unknown) => second);
      if (again === undefined) return false;
      if (!isNotFound(again)) throw again;
      diagnostics.push(problem("plan.gone/listed", { address: change.address, noun: kind.noun, object: id }));
      return true;
    };
    if (!(await account.isMissing(error, kind, id, parent, asks))) throw error;
  }
}

/** The object of a change, as messages about its status need it. */
export const subjectOf = ({ kind, change: { address, provider }, attributes, mark: { job } }: Progress) => ({
  kind,
  address,
  provider,
  attributes,
  job,
});
