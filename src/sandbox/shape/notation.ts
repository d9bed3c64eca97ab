/** How single values are written: ids, amounts, instants. */
import { createHash } from "node:crypto";
import { billingCycle } from "../money.ts";
import type { Profile } from "../profile/profile.ts";
import type { InvoiceStatus, ProductType, ProvisioningStatus } from "../store/records.ts";

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

/** The words that grow a suffix in `upper_snake`, for orders only. */
const LONG_WORDS: Readonly<Record<string, string>> = {
  pending: "PENDING_PAYMENT",
  suspended: "SUSPENDED_BY_CLIENT",
};

/** Words that share nothing with the usual ones but their meaning. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  pending: "Pending Payment",
  active: "running",
  suspended: "Paused",
  terminated: "closed",
  cancelled: "Canceled",
  fraud: "Under Review",
  draft: "new",
  submitted: "queued",
  completed: "done",
};

/** Statuses as numbers. */
const CODES: Readonly<Record<string, number>> = {
  pending: 0,
  active: 1,
  suspended: 2,
  terminated: 3,
  cancelled: 4,
  fraud: 5,
  draft: 10,
  submitted: 11,
  completed: 12,
};

/** The status of an order (`ofOrder`) or of a migration request. */
export function statusWord(word: string, profile: Profile, ofOrder = false): string | number {
  switch (profile.status) {
    case "lower":
      return word;
    case "capitalised":
      return capitalised(word);
    case "upper_snake":
      return (ofOrder ? LONG_WORDS[word] : undefined) ?? word.toUpperCase();
    case "words":
      return OTHER_WORDS[word] ?? word;
    case "digits":
      return String(CODES[word] ?? 99);
    case "numbers":
      return CODES[word] ?? 99;
  }
}

const QUEUE_WORDS: Readonly<Record<ProvisioningStatus, string>> = {
  pending: "queued",
  provisioning: "in_progress",
  provisioned: "done",
  failed: "error",
};

/** `words` are spelled as `status` says, where that is a spelling. */
export function provisioningWord(word: ProvisioningStatus, profile: Profile): string | null {
  switch (profile.provisioning) {
    case "words":
      return profile.status === "upper_snake"
        ? word.toUpperCase()
        : profile.status === "capitalised"
          ? capitalised(word)
          : word;
    case "queued":
      return QUEUE_WORDS[word];
    case "active":
      return word === "provisioned" ? "active" : "inactive";
    case "empty":
      return "";
    case "null":
      return null;
  }
}

const OPEN_WORDS: Readonly<Record<InvoiceStatus, string>> = {
  unpaid: "Open",
  paid: "Paid",
  cancelled: "Void",
  refunded: "Credited",
};
const UPPER_WORDS: Readonly<Record<InvoiceStatus, string>> = {
  unpaid: "DUE",
  paid: "SETTLED",
  cancelled: "CANCELLED",
  refunded: "REFUNDED",
};

export function invoiceWord(word: InvoiceStatus, profile: Profile): string {
  switch (profile.invoice_status) {
    case "lower":
      return word;
    case "open":
      return OPEN_WORDS[word];
    case "upper":
      return UPPER_WORDS[word];
  }
}

const UNITS: Readonly<Record<number, string>> = { 1: "month", 3: "quarter", 6: "half-year", 12: "year" };

/** The billing cycle of a term in months. */
export function cycle(months: number, profile: Profile): string | number {
  switch (profile.billing_cycle) {
    case "word":
      return billingCycle(months);
    case "months":
      return months === 1 ? "1 month" : `${months} months`;
    case "unit":
      return UNITS[months] ?? `${months / 12} years`;
    case "integer":
      return months;
  }
}

/** §2 Service names the kinds "shared, WordPress, Root VPS, Virtual Desktop". */
const TITLES: Readonly<Record<ProductType, string>> = {
  shared: "Shared",
  wordpress: "WordPress",
  vps: "Root VPS",
  virtual_desktop: "Virtual Desktop",
};
const OTHER_TYPES: Readonly<Record<ProductType, string>> = {
  shared: "shared-hosting",
  wordpress: "managed-wordpress",
  vps: "root-vps",
  virtual_desktop: "virtual-desktop",
};

export function productType(type: ProductType, profile: Profile): string {
  switch (profile.product_type) {
    case "slug":
      return type;
    case "title":
      return TITLES[type];
    case "other":
      return OTHER_TYPES[type];
  }
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
