/** The forms of single values: ids, amounts, instants, and the words that the specification leaves open (§2 Gaps). */
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

/** The number behind an id in a path; undefined for an impossible id. `kind` has its words joined by `_`. */
export function readId(kind: string, text: string, profile: Profile): number | undefined {
  const record = profile.record_ids === "uuid" ? RECORD_KINDS.find((one) => one === kind) : undefined;
  if (record !== undefined) return idBehind(record, text);
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}

/** The parts of a kind's UUIDs: the common beginning, and the mask that hides the id in the end. */
const MARKS = Object.fromEntries(
  RECORD_KINDS.map((kind) => {
    const digits = createHash("sha256").update(`record id of a ${kind}`).digest("hex");
    const head = [digits.slice(0, 8), digits.slice(8, 12), `4${digits.slice(12, 15)}`, `8${digits.slice(15, 18)}`];
    return [kind, { head: head.join("-"), mask: BigInt(`0x${digits.slice(18, 30)}`) }];
  }),
) as Record<RecordKind, { head: string; mask: bigint }>;

/** A UUID that can be computed from the id and back, so that it need not be stored. */
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
  const forms = {
    offset: `${kept.slice(0, 19)}+00:00`,
    micros_z: `${kept.slice(0, 23)}000Z`,
    date: kept.slice(0, 10),
  };
  return forms[profile.timestamps];
}

/**
 * Statuses of orders and of migration requests: an entirely different word, a number, and for orders the longer word of
 * `upper_snake`.
 */
const STATUSES: Readonly<Record<string, { readonly other: string; readonly code: number; readonly long?: string }>> = {
  pending: { other: "Pending Payment", code: 0, long: "PENDING_PAYMENT" },
  active: { other: "running", code: 1 },
  suspended: { other: "Paused", code: 2, long: "SUSPENDED_BY_CLIENT" },
  terminated: { other: "closed", code: 3 },
  cancelled: { other: "Canceled", code: 4 },
  fraud: { other: "Under Review", code: 5 },
  draft: { other: "new", code: 10 },
  submitted: { other: "queued", code: 11 },
  completed: { other: "done", code: 12 },
};

/** The status of an order (`ofOrder`) or of a migration request. */
export function statusWord(word: string, profile: Profile, ofOrder = false): string | number {
  const { other = word, code = 99, long } = STATUSES[word] ?? {};
  const words = {
    lower: word,
    capitalised: capitalised(word),
    upper_snake: (ofOrder ? long : undefined) ?? word.toUpperCase(),
    words: other,
    digits: String(code),
    numbers: code,
  };
  return words[profile.status];
}

const QUEUE_WORDS: Readonly<Record<ProvisioningStatus, string>> = {
  pending: "queued",
  provisioning: "in_progress",
  provisioned: "done",
  failed: "error",
};

/** `words` are spelled as `status` says, where that is a spelling. */
export function provisioningWord(word: ProvisioningStatus, profile: Profile): string | null {
  const spelled = profile.status === "capitalised" ? capitalised(word) : word;
  const words = {
    words: profile.status === "upper_snake" ? word.toUpperCase() : spelled,
    queued: QUEUE_WORDS[word],
    active: word === "provisioned" ? "active" : "inactive",
    empty: "",
    null: null,
  };
  return words[profile.provisioning];
}

const INVOICE_WORDS: Readonly<Record<InvoiceStatus, { readonly open: string; readonly upper: string }>> = {
  unpaid: { open: "Open", upper: "DUE" },
  paid: { open: "Paid", upper: "SETTLED" },
  cancelled: { open: "Void", upper: "CANCELLED" },
  refunded: { open: "Credited", upper: "REFUNDED" },
};

export function invoiceWord(word: InvoiceStatus, profile: Profile): string {
  return { lower: word, ...INVOICE_WORDS[word] }[profile.invoice_status];
}

const UNITS: Readonly<Record<number, string>> = { 1: "month", 3: "quarter", 6: "half-year", 12: "year" };

/** The billing cycle of a term in months. */
export function cycle(months: number, profile: Profile): string | number {
  const forms = {
    word: billingCycle(months),
    months: months === 1 ? "1 month" : `${months} months`,
    unit: UNITS[months] ?? `${months / 12} years`,
    integer: months,
  };
  return forms[profile.billing_cycle];
}

/** §2 Service names the kinds "shared, WordPress, Root VPS, Virtual Desktop". */
const PRODUCT_WORDS: Readonly<Record<ProductType, { readonly title: string; readonly other: string }>> = {
  shared: { title: "Shared", other: "shared-hosting" },
  wordpress: { title: "WordPress", other: "managed-wordpress" },
  vps: { title: "Root VPS", other: "root-vps" },
  virtual_desktop: { title: "Virtual Desktop", other: "virtual-desktop" },
};

export function productType(type: ProductType, profile: Profile): string {
  return { slug: type, ...PRODUCT_WORDS[type] }[profile.product_type];
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
