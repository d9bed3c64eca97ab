/** The words that the specification leaves open (§2 Gaps): statuses, billing cycles, kinds of products. */

import type { Profile } from "../profile/profile.ts";
import { billingCycle } from "../money.ts";
import type { InvoiceStatus, ProductType, ProvisioningStatus } from "../store/records.ts";

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
