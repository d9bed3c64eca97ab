import type {
  ApplyResult,
  Change,
  ChangeOutcome,
  ChangeReason,
  CostLine,
  Diagnostic,
  Drift,
  Invoice,
  Json,
  JsonObject,
  Plan,
  ReasonKind,
  SourceRange,
} from "../../../src/core/model/index.ts";
import { wordsOfType } from "../../../src/project/saved-plan.ts";
import { fixOf } from "../../support/remedies.ts";

/** Style of a report in a file, with remedies for YAML. */
export const plain = { remedies: fixOf, color: false };

const typeOf = (address: string) => address.slice(0, address.indexOf("."));

/** Returns a change of `hosting_service.acme`. `over` replaces any field. */
export function change(over: Partial<Change> = {}): Change {
  const address = over.address ?? "hosting_service.acme";
  return {
    address,
    type: typeOf(address),
    words: wordsOfType(typeOf(address)),
    provider: "default",
    actions: ["no-op"],
    before: null,
    after: null,
    after_unknown: false,
    sensitive: [],
    config: null,
    reasons: [],
    deferred: [],
    private: {},
    dependsOn: [],
    requests: 1,
    ...over,
  };
}

export function reason(why: ReasonKind, text: string, attribute?: string): ChangeReason {
  return { why, text, ...(attribute !== undefined && { attribute }) };
}

export function plan(changes: readonly Change[] = [], over: Partial<Plan> = {}): Plan {
  return {
    project: "acme",
    lineage: "7a1e7a1e-0000-4000-8000-000000000001",
    serial: 4,
    timestamp: "2026-11-21T10:00:00Z",
    mode: "apply",
    changes,
    drift: [],
    pending: [],
    diagnostics: [],
    cost: [],
    requests: { read: 4, apply: 0, seconds: 0 },
    ...over,
  };
}

export function cost(over: Partial<CostLine> = {}): CostLine {
  return { currency: "USD", orders: 1, list: 2000, billed: 1800, unknown: 0, ...over };
}

/** A service in the state and in the account. */
export const liveService: JsonObject = {
  id: "1001",
  plan_id: 101,
  currency: "USD",
  domain: "www.acme.example",
  term: 12,
  coupon_code: null,
  reference: null,
  suspended: false,
  password: null,
  password_version: null,
  deletion_policy: "prevent",
  plan: "Shared S",
  product_type: "shared",
  status: "active",
  provisioning_status: "provisioned",
  billing_cycle: "annually",
  price: 2000,
  next_due_date: "2027-11-21",
  created_at: "2026-11-21T10:00:00+00:00",
  generated_password: null,
};

/** Returns the order of a service: the declared values are known, the others only after apply. */
export function order(over: Partial<Change> = {}): Change {
  const config: JsonObject = { plan_id: 101, currency: "USD", domain: "www.acme.example", term: 12 };
  const unknown = ["id", "plan", "product_type", "status", "price", "next_due_date", "created_at"];
  const nothing: Record<string, Json> = Object.fromEntries(unknown.map((name) => [name, null]));
  return change({
    actions: ["create"],
    config,
    after: { ...nothing, ...config, coupon_code: null, deletion_policy: "prevent" },
    after_unknown: Object.fromEntries(unknown.map((name) => [name, true])),
    sensitive: ["password", "generated_password"],
    reasons: [reason("declared", "not in the state")],
    requests: 1,
    quote: { currency: "USD", list: 2000, billed: 1800, most: 1800 },
    ...over,
  });
}

/** Returns an update of the live service in place. */
export function update(after: JsonObject, over: Partial<Change> = {}): Change {
  return change({
    actions: ["update"],
    before: liveService,
    after: { ...liveService, ...after },
    config: { plan_id: 101, currency: "USD", domain: "www.acme.example", term: 12, ...after },
    sensitive: ["password", "generated_password"],
    ...over,
  });
}

export function drift(after: JsonObject | null, over: Partial<Drift> = {}): Drift {
  const address = over.address ?? "hosting_service.acme";
  return {
    address,
    type: typeOf(address),
    provider: "default",
    before: liveService,
    after: after === null ? null : { ...liveService, ...after },
    ...over,
  };
}

export function diagnostic(over: Partial<Diagnostic> = {}): Diagnostic {
  return { severity: "error", code: "config.invalid_value", summary: "term is not one of the allowed terms", ...over };
}

/** Returns the position of `marked` in a line of `hosting.yaml`. */
export function at(text: string, marked: string, line = 12): SourceRange {
  const column = text.indexOf(marked) + 1;
  return { file: "hosting.yaml", line, column, endLine: line, endColumn: column + marked.length, text };
}

export function invoice(over: Partial<Invoice> = {}): Invoice {
  return {
    id: "501",
    number: "INV-2026-000123",
    currency: "USD",
    total: 1800,
    status: "unpaid",
    due_date: "2026-12-05",
    ...over,
  };
}

export function outcome(address: string, over: Partial<ChangeOutcome> = {}): ChangeOutcome {
  return { address, result: "done", diagnostics: [], ...over };
}

export function result(outcomes: readonly ChangeOutcome[], over: Partial<ApplyResult> = {}): ApplyResult {
  return { outcomes, diagnostics: [], interrupted: false, pending: [], requests: 38, seconds: 65, ...over };
}
