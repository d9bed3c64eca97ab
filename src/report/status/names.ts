// Names of the sections of an account report. This file has no imports, because each command loads it.
const ANSWERS = [
  "attention",
  "due",
  "unpaid",
  "renewals",
  "money",
  "domains",
  "access",
  "drift",
  "undeclared",
  "services",
  "changes",
] as const;

/** Sections in the order of the report. */
export const SECTIONS = [...ANSWERS, "billed", "overdue", "webhooks", "pending", "invoices"] as const;
export type SectionName = (typeof SECTIONS)[number];

/** Sections of `hostform status` without `--section`. */
export const STATUS_SECTIONS: readonly SectionName[] = ANSWERS;
/** Sections of `hostform audit`. */
export const AUDIT_SECTIONS: readonly SectionName[] = [
  "undeclared",
  "billed",
  "overdue",
  "access",
  "webhooks",
  "pending",
];
