import { z } from "zod";
import type { Clock } from "../model/index.ts";

/** Who holds a lock. `pid` is null for a holder that is not hostform: Terraform does not say which process it is. */
export interface LockHolder {
  readonly id: string;
  /** The command, `apply`. */
  readonly command: string;
  /** `user@host`. */
  readonly who: string;
  readonly pid: number | null;
  /** ISO 8601. */
  readonly since: string;
}

/** The process that asks for a lock. */
export interface Contender {
  readonly pid: number;
  readonly user: string;
  readonly host: string;
}

/** The fields of Terraform's own lock notice, and the process id that it lacks. */
const notice = z.looseObject({
  ID: z.string().min(1),
  Operation: z.string().default("unknown"),
  Who: z.string().default("unknown"),
  Created: z.string().default("unknown"),
  Pid: z.number().int().optional(),
});

/** The notice that stands beside a locked state, in Terraform's form, so that either program can read the other's. */
export function encodeHolder(holder: LockHolder, statePath: string): string {
  const { id, command, who, pid, since } = holder;
  const fields = {
    ID: id,
    Operation: command,
    Info: "hostform",
    Who: who,
    Version: "",
    Created: since,
    Path: statePath,
  };
  return `${JSON.stringify({ ...fields, ...(pid !== null && { Pid: pid }) })}\n`;
}

/** The inverse of {@link encodeHolder}; undefined for a notice that is torn or not one. */
export function decodeHolder(text: string): LockHolder | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  const checked = notice.safeParse(json);
  if (!checked.success) return undefined;
  const { ID, Operation, Who, Pid, Created } = checked.data;
  return { id: ID, command: Operation, who: Who, pid: Pid ?? null, since: Created };
}

/** `process 4711 (apply), user@host, since 2026-01-02T03:04:05.000Z (12 s ago)`. */
export function describeHolder(holder: LockHolder, clock: Clock): string {
  const process = holder.pid === null ? `Terraform (${holder.command})` : `process ${holder.pid} (${holder.command})`;
  const since = Date.parse(holder.since);
  const ago = Number.isNaN(since) ? "" : ` (${Math.max(0, Math.round((clock.now() - since) / 1000))} s ago)`;
  return `${process}, ${holder.who}, since ${holder.since}${ago}`;
}
