/** How single values are written: ids, amounts, instants. */
import { createHash } from "node:crypto";
import type { Profile } from "../profile/profile.ts";

/** Records whose ids the specification says nothing about (§2 Gaps); those of services and invoices are integers (§2). */
const RECORD_KINDS = ["grant", "webhook", "account", "migration_request"] as const;
export type RecordKind = (typeof RECORD_KINDS)[number];

/** An id of a plan, an order or an invoice. */
export function idOf(id: number | null, profile: Profile): number | string | null {
  return id !== null && profile.ids === "string" ? String(id) : id;
}

/** An id of any other record. */
export function recordId(kind: RecordKind, id: number, profile: Profile): number | string | null {
  return profile.record_ids === "uuid" ? uuidOf(kind, id) : idOf(id, profile);
}

/** The number behind an id in a path; undefined when it belongs to nothing. `kind` has its words joined by `_`. */
export function readId(kind: string, text: string, profile: Profile): number | undefined {
  const record = profile.record_ids === "uuid" ? RECORD_KINDS.find((one) => one === kind) : undefined;
  if (record !== undefined) return idBehind(record, text);
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}

/** What makes the UUIDs of a kind: the first part of all of them, and what hides the id in the last one. */
const MARKS = Object.fromEntries(
  RECORD_KINDS.map((kind) => {
    const digits = createHash("sha256").update(`record id of a ${kind}`).digest("hex");
    const head = [digits.slice(0, 8), digits.slice(8, 12), `4${digits.slice(12, 15)}`, `8${digits.slice(15, 18)}`];
    return [kind, { head: head.join("-"), mask: BigInt(`0x${digits.slice(18, 30)}`) }];
  }),
) as Record<RecordKind, { head: string; mask: bigint }>;

/** A UUID that follows from the id and leads back to it, so that nothing has to be remembered. */
function uuidOf(kind: RecordKind, id: number): string {
  const { head, mask } = MARKS[kind];
  return `${head}-${(BigInt(id) ^ mask).toString(16).padStart(12, "0")}`;
}

function idBehind(kind: RecordKind, text: string): number | undefined {
  const { head, mask } = MARKS[kind];
  const lower = text.toLowerCase();
  if (!lower.startsWith(`${head}-`) || !/^[0-9a-f]{12}$/.test(lower.slice(head.length + 1))) return undefined;
  return Number(BigInt(`0x${lower.slice(head.length + 1)}`) ^ mask);
}

/** An amount in the profile's unit; an integer either way (§2). */
export function amount(minor: number, profile: Profile): number {
  return profile.money === "major" ? Math.round(minor / 100) : minor;
}

/** The kept form is `2026-11-21T10:00:00.000Z`. */
export function instant(kept: string | null, profile: Profile): string | null {
  if (kept === null) return null;
  switch (profile.timestamps) {
    case "offset":
      return `${kept.slice(0, 19)}+00:00`;
    case "micros_z":
      return `${kept.slice(0, 23)}000Z`;
    case "date":
      return kept.slice(0, 10);
  }
}
