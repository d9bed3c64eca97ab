import { problem, raise } from "../../messages/index.ts";
import { type HostformError, ifExplained } from "../../model/index.ts";
import { linesIn } from "../history.ts";
import { decodeHolder, type StateLock } from "../lock.ts";
import type { StateBackend } from "../opening.ts";
import type { Verify } from "../state-file.ts";
import { isSuccess, nameOfUrl } from "./http-wire.ts";
import { ABSENT, type Bucket, type BucketOptions, createBucket } from "./s3-bucket.ts";
import { type LockDoor, ServerLock, type ServerLockOptions } from "./server-lock.ts";

export interface S3BackendOptions extends BucketOptions, ServerLockOptions {
  /** Key of the state. The keys of its lock and its history begin with this key. */
  readonly key: string;
}

/**
 * Creates the backend of a state in an S3 bucket, with the layout of Terraform's `s3` backend and its lock file. Each write is
 * conditional on the version that this process read or wrote last, so a lost lock never overwrites the state of another run.
 */
export function createS3Backend(options: S3BackendOptions): StateBackend {
  const { key, signal } = options;
  const bucket = createBucket(options);
  const name = nameOfUrl(bucket.urlOf(key));
  const lockKey = `${key}.tflock`;
  const lock = new ServerLock({ ...options, place: name }, doorOf(bucket, lockKey));
  const [state, history] = [bucket.stored(key), bucket.stored(`${key}.history`)];
  let isWritten = false;

  /** Reads the lock at the store. @throws HostformError `state.lost_lock` if the lock does not belong to this run. */
  async function requireLock(): Promise<void> {
    const there = await bucket.get(lockKey);
    const holder = decodeHolder(there?.text ?? "");
    if (holder !== undefined && holder.id === lock.id) return;
    lock.lost = holder ? `Now: lock ID ${holder.id}, ${holder.who}.` : `${lockKey} does not exist.`;
    raise("state.lost_lock", { holder: lock.lost });
  }

  async function write(text: string, verify: Verify): Promise<void> {
    await verify();
    await requireLock();
    await state.write(text);
    isWritten = true;
  }

  async function confirm(): Promise<void> {
    if (!isWritten) return;
    const warn = ({ message: reason }: HostformError) => options.warn(problem("state.backend/unconfirmed", { reason }));
    const isStored = await state.isCurrent().catch(ifExplained(warn));
    if (isStored === false) raise("state.unwritable/lost", { place: name });
  }

  async function prove(): Promise<void> {
    await requireLock();
    if (!(await state.isCurrent())) raise("state.lost_lock/changed", { place: name });
  }

  const probe = (until?: AbortSignal) => bucket.probe(`${key}.${options.uuid()}.probe`, until);
  const acquire: StateLock["acquire"] = async (request) => {
    await probe(request.signal);
    return { ...(await lock.acquire(request)), prove };
  };
  const takeOver: StateLock["takeOver"] = async (id) => {
    await probe();
    return lock.takeOver(id);
  };
  const earlier = "A bucket with versions keeps earlier states.";
  const read = () => state.read(signal);
  return {
    text: { name, earlier, read, write, confirm, keep: async (kept) => options.keep?.(kept) },
    lock: { acquire, takeOver },
    history: linesIn(`${name}.history`, history.read, history.write),
  };
}

/** Creates the access to Terraform's lock, an object that exists while a run holds the lock. */
function doorOf(bucket: Bucket, key: string): LockDoor {
  return {
    take: async (notice, signal) => {
      const { answer, exchange } = await bucket.put(key, notice, ABSENT, signal);
      if (isSuccess(answer)) return { isTaken: true, notice, exchange };
      const there = await bucket.get(key, signal);
      return { isTaken: false, notice: there?.text ?? "", exchange };
    },
    free: async (notice, signal) => {
      const there = await bucket.get(key, signal);
      if (there === undefined) return;
      const [own, other] = [notice, there.text].map((text) => decodeHolder(text)?.id);
      if (other !== undefined && other !== own)
        raise("state.locked/other", { id: String(own), holder: `Now: lock ID ${other}.` });
      await bucket.remove(key, signal);
    },
    mayHaveSent: bucket.mayHaveSent,
  };
}
