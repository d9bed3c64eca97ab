/** Sample parameters for each message of the catalogue. The compiler rejects a new message without samples. */
import type { catalogue } from "../../src/core/messages/index.ts";
import type { Given } from "../../src/core/messages/message.ts";

type Messages = typeof catalogue;

export const resource = { address: "hosting_service.www", noun: "service" };
const SINCE = "2026-11-21T10:00:00Z";
const one = { ...resource, ids: ["1001"], label: "www.acme.example", object: "1001", isPaid: true };
const shared = {
  ...resource,
  id: "1001",
  place: "hosting.tfstate in /srv/shop",
  lastSeen: SINCE,
  here: "hosting.tfstate in /srv/acme",
};
const lost = { place: "hosting.tfstate", count: 53, providers: ["default"], backup: undefined };
const two = { ...resource, ids: ["1001", "1002"], object: "1001", isPaid: false };
const difference = {
  ...resource,
  name: "plan_id",
  attribute: ["plan_id"],
  was: "11",
  becomes: "12",
  value: 11,
  isSecret: false,
};
const doubt = { hidden: "", since: SINCE, isAccepted: false };
const job = { since: SINCE, toward: "suspended", before: "active" } as const;
const status = { ...resource, provider: "main", status: "Odd", job: undefined, names: "suspended" };
const store = { place: "/home/ci/.local/state/0f1e2d.store", reason: "the file system is read-only" };
const rejected = { ...resource, id: "1001" };

const object = { ...rejected, name: "www.acme.example" };
const bill = { invoice: "invoice INV-2026-000007, 12.00 USD, due 2026-11-01", more: 0 };
const off = { address: "hosting_webhook.billing", noun: "webhook", id: "7", off: "is_active is false" };

const spending = { currency: "USD", amount: 500, limit: "450 USD", unit: "Amounts are in the API's own unit." };
const removals = { removed: ["hosting_grant.dev", "hosting_grant.ops"], share: "2 of 4 resources in the state (50%)" };
const moved = { from: "hosting_service.www", to: "hosting_service.shop" };
const hook = { address: "hosting_webhook.billing", noun: "webhook", name: "secret" };

const request = "POST /api/v1/services/{id}/suspend";
const read = "GET /api/v1/services/{id}";
const came = 'an object with "status"';
const asked = { request, origin: "https://api.acme.example" };
const until = "2026-11-21 10:03 UTC";
const pause = {
  request,
  pause: "181 seconds",
  since: " at 2026-11-21 10:00 UTC",
  until,
  again: until,
  isRepeated: false,
};

export const samples: {
  readonly [Name in keyof Messages]: readonly Given<Messages[Name]>[];
} = {
  "condition.own_form": [
    { ...resource, name: "suspended", is: false, declared: true, times: 2 },
    { ...resource, name: "email", times: 2 },
    { ...resource, name: "currency", is: "EUR", declared: "USD", times: 2, isAdopted: true },
  ],
  "condition.other_plan": [
    {
      ...resource,
      id: "1001",
      attribute: ["plan_id"],
      is: { name: "Pro", number: 12 },
      ordered: { name: "Basic", number: 11 },
    },
    {
      ...resource,
      id: "1001",
      attribute: ["plan_id"],
      is: { name: "Pro", number: null },
      ordered: { name: null, number: 11 },
    },
  ],
  "condition.off": [
    { ...off, name: "https://hooks.acme.example" },
    { ...off, name: undefined },
  ],
  "condition.offline": [{ ...object, since: "2026-11-03" }, object],
  "condition.offline/unread": [{ ...object, since: "2026-11-03" }, object],
  "condition.offline/invoice": [
    { ...object, ...bill, since: "2026-11-03" },
    { ...object, ...bill, more: 2 },
  ],
  "condition.offline/withdrawn": [object],
  "condition.offline/provisioning": [object],
  "condition.offline/pending": [true, false].map((isRead) => ({ ...object, isRead })),
  "condition.unpaid": [
    { ...object, ...bill },
    { ...object, ...bill, more: 1 },
  ],
  "condition.unpaid/order": [{ ...object, ...bill }],
  "condition.unpaid/renewal": [{ ...object, ...bill, due: "2026-11-01" }],
  "condition.gone": [{ ...object, how: 'is "terminated"' }],
  "condition.handed_over": [
    { ...object, why: "This service belongs to another account" },
    { ...object, name: undefined, why: "Forbidden" },
  ],
  "condition.unread": [{ ...object, why: "The API failed (500)" }],
  "condition.unread/invoices": [{ ...object, why: "The token may not read invoices (403)" }],
  "condition.unknown_status": [status],
  "condition.unknown_status/unchanged": [status, { ...status, job }],
  "condition.unknown_status/unchecked": [status],
  "condition.outside": [
    { ...resource, id: "1001", name: "www.acme.example", why: "Service 1001 is outside this token's restriction" },
  ],
  "condition.unread/ability": [{ ...resource, why: "The ability technical is missing" }],
  "plan.unread": [
    {
      address: 'hosting_grant.acme["dev@acme.example"]',
      noun: "grant",
      said: "This service belongs to another account",
    },
  ],
  "plan.held_back": [
    { address: resource.address, others: ["hosting_grant.dev"], isOwn: false, isUnread: false },
    { address: resource.address, others: ["hosting_grant.dev", "hosting_grant.ops"], isOwn: true, isUnread: true },
    { address: resource.address, others: [], isOwn: true, isUnread: true },
  ],
  "plan.ability": ["hosting_service.a", "hosting_service.a hosting_service.b"].map((text) => ({
    ability: "technical",
    addresses: text.split(" "),
    said: 'This token does not have the "technical" ability',
    severity: "error" as const,
  })),
  "plan.restricted/order": [{ ...resource, said: "Service 1001 is outside the restriction", severity: "error" }],
  "plan.restricted": [{ ...resource, id: "1001", said: "Service 1001 is outside this token's restriction" }],
  "plan.immutable/once": [{ ...difference, address: "hosting_domain.acme", noun: "domain", id: "4711" }],
  "plan.immutable": [
    { ...difference, isPaid: true },
    { ...difference, isPaid: false, isSecret: true },
  ],
  "plan.immutable/account": [
    { ...difference, isKept: true },
    { ...difference, isKept: false, isSecret: true },
  ],
  "plan.mismatch": [{ ...difference, id: "1001" }],
  "config.sensitive": ["env.SITE", "var.site", "hosting_webhook.billing.secret"].map((from) => ({
    address: resource.address,
    name: "domain",
    from: [from],
  })),
  "config.duplicate": [{ ...resource, other: "hosting_service.shop" }],
  "plan.exists": [one, two],
  "plan.exists/unseen": [one, two],
  "plan.exists/held": [true, false].map((isOccupied) => ({
    ...one,
    owner: "hosting_service.shop",
    isOccupied,
    isRemoved: !isOccupied,
  })),
  "plan.exists/copied": [{ ...one, holder: "hosting.tfstate in /srv/shop" }],
  "plan.exists/outside": ["dev@acme.example", undefined].map((name) => ({
    ...resource,
    id: "301",
    name,
    from: "hosting_grant.team[1]",
    to: "hosting_grant.team[0]",
    outside: ["hosting_grant.team[1]"],
  })),
  "plan.exists/replaced": [
    { ...one, id: "1000" },
    { ...two, id: "1000" },
  ],
  "plan.exists/twin": [
    { ...one, id: "1000" },
    { ...two, id: "1000" },
  ],
  "plan.exists/elsewhere": [true, false].map((isLost) => ({
    ...resource,
    object: "acme.example",
    at: SINCE,
    isLost,
    isOwn: !isLost,
  })),
  "api.malformed/other": [{ noun: "service", id: "1001", other: "1002" }],
  "api.malformed/listed": [{ noun: "webhook", id: "201", said: "The API does not know the object (404)." }],
  "plan.gone/ended": [{ ...one, how: "was deleted on 2026-11-20" }],
  "plan.gone/listed": [one],
  "plan.gone/import": [{ ...one, how: "no longer exists" }],
  "plan.unfit/replace": [
    { address: "hosting_service.www", noun: "service", why: "keyless" },
    { address: "hosting_webhook.paid", noun: "webhook", why: "absent" },
  ],
  "plan.unfit/reorder": [
    { address: "hosting_service.www", noun: "service", why: "present" },
    { address: "hosting_webhook.paid", noun: "webhook", why: "free" },
  ],
  "plan.unreadable": [
    { ...one, hidden: "email" },
    { ...two, hidden: "url, events" },
  ],
  "plan.lookalike": [
    { ...one, shown: [["Root", null]] },
    {
      ...two,
      shown: [
        ["Root", null],
        [null, "acme.example"],
      ],
    },
    {
      ...two,
      shown: [
        ["Root", null],
        ["Root", null],
      ],
      pending: "hosting_service.shop",
    },
    { ...two, shown: [], other: ["domain", "acme.example", "www.acme.example"] },
  ],
  "plan.lookalike/renamed": [{ address: "hosting_service.www", former: "hosting_service.shop" }],
  "state.missing": [
    { ...lost, isNew: true, holder: undefined, others: [] },
    { ...lost, isNew: true, holder: undefined, others: [], backup: "hosting.tfstate.backup" },
    { ...lost, isNew: true, holder: undefined, others: ["hosting.production.tfstate"] },
    { ...lost, isNew: false, holder: "hosting.tfstate in /srv/shop", others: [] },
  ],
  "state.shared": [
    { ...shared, other: "hosting_service.shop", more: 0 },
    { ...shared, other: undefined, more: 2 },
  ],
  "plan.unknown_date": [{ address: "hosting_grant.dev", name: "expires_at", is: "soon" }],
  "api.form": [
    { ...resource, name: "domain", sent: "www.acme.example", is: "acme.example" },
    { ...resource, name: "url", isMasked: true },
  ],
  "api.form/other": [
    { ...resource, name: "expires_at", sent: "2027-01-01T00:00:00Z", is: "2027-01-02T00:00:00Z" },
    { ...resource, name: "email" },
  ],
  "plan.pending/blind": [resource],
  "plan.pending/accepted": [resource],
  "plan.pending/undecided": [
    { ...one, ...doubt },
    { ...two, ...doubt, isAccepted: true },
    { ...one, ...doubt, hidden: "url, events" },
    { ...one, ...doubt, created: { id: "1001", at: "2026-11-21T07:00:00Z" } },
    { ...one, ...doubt, form: ["domain", "acme.example", "www.acme.example"] },
  ],
  "plan.pending/changed": [rejected],
  "plan.pending/repeated": [{ ...resource, since: SINCE, sent: {} }],
  "plan.pending/removal": [
    { ...resource, since: SINCE, reason: "lists may lag", isWaiting: true, isQuestion: false, until: SINCE },
    {
      ...resource,
      since: SINCE,
      reason: "a job may still create the object",
      isWaiting: false,
      isQuestion: true,
      until: undefined,
    },
  ],
  "apply.replayed": [one],
  "apply.replayed/found": [one],
  "apply.replayed/held": [{ ...one, owner: "hosting_service.shop" }],
  "apply.replayed/older": [one],
  "apply.replayed/gone": [one],
  "apply.replayed/other": [{ ...one, name: "plan_id", is: "11", declared: "12" }],
  "secret.lost": [one],
  "secret.output/waiting": [
    {
      ...resource,
      name: "generated_password",
      reason: { summary: "No space is left", remedies: ["Free some space."] },
    },
  ],
  "secret.output/other": [
    {
      address: "hosting_webhook.billing",
      name: "secret",
      place: "the file secrets/hook",
      recorded: "sha256:0123abcd",
      other: "sha256:4567cdef",
    },
    {
      address: "hosting_webhook.billing",
      name: "secret",
      place: "the file secrets/hook",
      recorded: undefined,
      other: "sha256:4567cdef",
    },
  ],
  "secret.output/held": ["the file b.secret", undefined].map((other) => ({
    ...resource,
    id: "201",
    from: "hosting_webhook.a",
    to: "hosting_webhook.b",
    name: "secret",
    place: "the file a.secret",
    other,
    isOccupied: other !== undefined,
  })),
  "apply.skipped/output": [{ name: "url", reason: { summary: "The API is down", detail: "It answered 503." } }],
  "plan.expired": [{ address: "hosting_grant.dev", expired: "its expires_at (2026-11-01T00:00:00Z) is in the past" }],
  "usage/held": [{ ...rejected, owner: "hosting_service.shop" }],
  "usage/sibling": [{ ...rejected, sibling: "hosting_service.shop" }],
  "usage/created": [
    { ...rejected, undeclared: false },
    { ...rejected, undeclared: true },
  ],
  "usage/differs": [
    { ...rejected, differences: [{ name: "currency", is: "EUR", sent: "USD" }], isFinal: false },
    { ...rejected, differences: [{ name: "url" }, { name: "events", is: [], sent: ["invoice.paid"] }], isFinal: true },
  ],
  "usage/other": [
    { ...rejected, isOlder: true },
    { ...rejected, isOlder: false },
  ],
  "plan.unknown_status/unchanged": [status, { ...status, status: null }, { ...status, job }],
  "plan.unknown_status/withheld": [
    { ...status, address: 'hosting_grant.www["dev@acme.example"]', other: "hosting_service.www" },
  ],
  "plan.unknown_status/ordered": [status],
  "plan.unknown_status/ended": [
    { ...status, job },
    { ...status, job: { ...job, toward: "live", before: null } },
  ],
  "plan.prevented/status": [status, { ...status, job }],
  "apply.waiting/lists": [
    { ...resource, address: "hosting_grant.dev", noun: "grant", waitsFor: "hosting_service.www" },
  ],
  "apply.waiting/live": ["its invoice is not paid", undefined].map((why) => ({
    what: "hosting_grant.dev",
    noun: "service",
    id: "1001",
    why,
    refusal: "POST /api/v1/services/{id}/shares: 409.",
  })),
  "provider.ledger": [store],
  "provider.ledger/refused": [store],
  "provider.ledger/creates": [store],
  "store.unwritable": [store],
  "store.busy": [4113, 0].map((pid) => ({ ...store, seconds: 4, pid })),
  "store.turn": [{ pid: 4113, project: "acme", since: SINCE, seconds: 20 }],
  "store.taken_over": [{ pid: 4113, project: "acme", since: SINCE }],
  "store.newer": [store],
  "store.unsafe": [{ ...store, mode: 700 }],
  "store.damaged": [store],
  "account.foreign/address": [
    { of: "Provider default", origin: "https://api.staging.example", recorded: "https://api.host.example" },
  ],
  "account.foreign/objects": ["https://api.host.example", "http://localhost"].map((origin) => ({
    of: "Provider default",
    origin,
    recorded: origin,
    objects: ["service 1001 (www.acme.example)", "webhook 201 (created 2026-01-01T00:00:00Z)"],
  })),
  "guard.missing": [
    { missing: ["hosting_service.www", "hosting_service.shop"], share: "2 of 4 resources in the state (50%)" },
  ],
  "plan.pending/turns": [{ ...resource, turns: 5 }],
  "store.turn_lost": [{}],
  "store.waiting": [4113, 0].map((pid) => ({ pid, project: "acme", since: SINCE })),
  "store.waiting/lists": [{ seconds: 75 }],
  "store.waiting/file": [4113, 0].map((pid) => ({ ...store, pid, project: "", since: SINCE })),
  "policy.denied": [
    {
      sentence: "hosting_webhook.audit sends events to hooks.evil.example",
      rule: "webhook_hosts",
      file: "policies/main",
      address: "hosting_webhook.audit",
    },
    { sentence: "No order on a Friday", rule: "function", file: "policies/friday.ts" },
  ],
  "policy.warned": [{ sentence: "Nothing may be applied now (holidays)", rule: "windows", file: "policies/main" }],
  "policy.invalid": [{ file: "policies/main", why: "max_orders: expected a whole number of orders" }],
  "policy.failed": [{ file: "policies/friday.ts", why: "it took more than 5 seconds" }],
  "policy.unsupported": [
    { what: "the rule require_state_key", why: "Another program keeps the state", severity: "error" },
  ],
  "account.double": [{ ...rejected, domain: "www.acme.example", ids: ["1001", "1002"] }],
  "state.stranger": [{ ...rejected, evidence: "It is acme.example; the recorded one was www.acme.example." }],
  "plan.immutable/provider": [{ ...resource, from: "default", to: "staging" }],
  "config.duplicate/object": [{ ...rejected, other: "hosting_service.shop" }],
  "plan.exists/recorded": [{ ...resource, owner: "hosting_service.shop" }],
  "plan.prevented": [{ ...rejected, policies: ["forget", "suspend"] }],
  "plan.prevented/kept": [{ ...resource, policies: ["forget"] }],
  "plan.prevented/early": [{ ...resource, status: '"pending"' }],
  "plan.prevented/lifecycle": [
    { ...resource, former: undefined, isReplaced: false },
    { ...resource, former: "hosting_service.shop", isReplaced: true },
  ],
  "plan.unknown_status/parent": [status, { ...status, status: null }].map((one) => ({ ...one, id: "1001" })),
  interrupted: [{}],
  "interrupted/halfway": [resource],
  internal: [{ failure: "TypeError: x is no function." }],
  "file.refused": [{ reason: "the file system is read-only", failure: "EROFS: read-only file system, open." }],
  "apply.skipped": [{ ...resource, failed: "hosting_service.shop" }],
  "apply.skipped/missing": [{ ...resource, missing: "hosting_service.shop" }],
  "apply.waiting": [{ ...resource, other: "hosting_service.shop" }],
  "guard.orders": [{ orders: ["hosting_service.www", "hosting_service.shop"], limit: 1 }],
  "guard.orders/run": [{ ...resource, orders: 1, limit: 1 }],
  "guard.spend": [
    { ...spending, total: "500 USD", isOver: true, isHidden: false, known: ["hosting_service.www 500"], unknown: [] },
    {
      ...spending,
      total: "0 USD",
      isOver: false,
      isHidden: true,
      known: [],
      unknown: ["hosting_domain.acme (no price)"],
    },
  ],
  "guard.spend/run": [
    { ...resource, ...spending, why: "So far: 400 USD. This order: at most 100 USD.", isOver: false, hasPrice: true },
    { ...resource, ...spending, why: "So far: 500 USD.", isOver: true, hasPrice: false },
  ],
  "guard.spend/exceeded": [true, false].map((isCertain) => ({
    ...spending,
    isCertain,
    spent: "500 USD",
    shares: "hosting_service.www 500",
  })),
  "apply.price": [{ ...resource, planned: "at most 100 USD", now: "at most 120 USD", unit: spending.unit }],
  "guard.removals": [{ ...removals, limit: 1 }],
  "guard.removals/percent": [{ ...removals, limit: 10 }],
  "guard.removals/default": [{ ...removals, limit: 30 }],
  "guard.removals/all": [removals],
  "guard.removals/unattended": [removals],
  "policy.invalid/unset": [{}],
  "config.expression": [{ name: "domain", message: "hosting_service.shop has no attribute domains" }],
  "config.missing_attribute": [
    { ...resource, name: "currency", description: "Currency of the order.", example: "USD" },
    { ...resource, name: "currency", description: "Currency of the order." },
  ],
  "config.missing_attribute/domain": [{ id: "11", type: '"shared"' }],
  "config.missing_attribute/password": [{ type: '"shared"' }],
  "config.missing_attribute/password_version": [{}],
  "config.invalid_value": [{ path: "suspended", expected: "expected true or false", value: '"yes"', literal: "true" }],
  "config.invalid_value/password": [{ type: '"vps"' }],
  "config.invalid_value/scale": [{}],
  "api.money_scale": [{ scale: 2, name: "total", of: "invoice", id: "501", text: "17.50" }],
  "api.validation/field": ["acme.example", undefined].map((created) => ({
    field: "domain",
    path: "domain",
    refusal: "has already been taken",
    endpoint: "POST /api/v1/domains",
    noun: "domain",
    created,
  })),
  "config.secret/output": [{ name: "url", from: ["env.HOOK_TOKEN"] }],
  "config.duplicate/thing": [
    { ...resource, other: "hosting_service.shop", domain: "www.acme.example", place: "project/www:3:3" },
    { ...resource, other: "hosting_service.shop", domain: undefined, place: undefined },
  ],
  "config.duplicate/reference": [{ ...resource, other: "hosting_service.shop", reference: '"shop"' }],
  "config.duplicate/place": [{ ...resource, other: "hosting_service.shop" }],
  "config.unsupported/order": [resource],
  "config.reference/removed": [resource],
  "config.reference/types": [moved],
  "config.reference/declared": [moved],
  "config.reference/forked": [moved],
  "config.reference/joined": [moved],
  "config.reference/occupied": [moved],
  "config.circle/moves": [moved],
  "plan.catalogue": [true, false].map((isComplete) => ({ id: 99, count: 12, isComplete })),
  "plan.mismatch/plan": [{ id: 11, declared: '"Basic"', name: '"Pro"', namesakes: "12 or 13" }],
  "plan.address": [
    { target: "hosting_service.shp", near: "hosting_service.shop" },
    { target: "hosting_service.x", near: undefined },
  ],
  "plan.address/pattern": [
    { target: "hosting_service.shp-*", near: "hosting_service.shop-*" },
    { target: "*x", near: undefined },
  ],
  "plan.address/client": [
    { target: "client:amce", near: "acme", clients: ["acme"] },
    { target: "client:gamma", near: undefined, clients: ["acme"] },
    { target: "client:gamma", near: undefined, clients: [] },
  ],
  "terraform.project": [resource],
  "terraform.reference": [resource],
  "secret.output/unknown": [{ ...hook, place: "the file secrets/hook" }],
  "secret.output/moved": [
    { ...hook, from: "the file a.secret", place: "the file b.secret" },
    { ...hook, from: undefined, place: "the file b.secret" },
  ],
  "secret.source/invalid": [
    { ...resource, name: "password", issue: "at least 8 characters", place: "the file pw.txt" },
  ],
  "secret.lost/webhook": [{ names: "id, url" }, { names: undefined }],
  "secret.lost/password": [true, false].map((isLast) => ({
    endpoint: "POST /api/v1/services/{id}/password",
    names: "none",
    mayBeGiven: isLast,
    isLast,
  })),
  "secret.lost/unknown": [{}],
  "api.cancelled": [{ request }],
  "api.too_late": [{ request }],
  "api.too_late/key": [{ request }],
  "api.late": [{ request }],
  "api.argument/key": [true, false].map((isGiven) => ({ isGiven })),
  "api.argument/surplus": [{ what: "body" }],
  "api.argument/password": [{}],
  "api.argument/id": [{ value: '"a/../b"', name: "id" }],
  "api.argument/domain": [{ value: '"bad..name"', why: "it has an empty label" }],
  "api.argument/option": [{ name: "pageSize", bounds: "a whole number from 1 to 100" }],
  "api.malformed": [{ request: read, expected: "a service with an id", came }],
  "api.malformed/row": [{ request: read, failure: `Expected a service with an id, received ${came}.` }],
  "api.malformed/cut": [{ status: 404 }],
  "api.malformed/text": [{ status: 404 }],
  "api.malformed/page": [true, false].map((isTransient) => ({ status: 502, isTransient })),
  "api.malformed/sign_on": [{}],
  "api.no_list": [{ request: read, failure: `${read} was answered with status 200 and an empty object` }],
  "api.inconclusive": [{ request: read, status: 204, came: "no content", expected: "the object" }],
  "api.accepted": [{ request: "POST /api/v1/services", noun: "a service", came }],
  "api.too_large": [{ request: read }],
  "api.pagination": [{ request: read, why: "It has 3 objects, and its pages hold 2." }],
  "api.pagination/half": [1, 25].map((received) => ({ request: read, what: "Page 2 is empty", received })),
  "api.pagination/endless": [{ request: read, why: "It has more than 2000 pages." }],
  "api.pagination/contradiction": [{ request: read, why: "Page 1 begins with row 26." }],
  "api.pagination/changing": [{ request: read, times: 3 }],
  "api.unauthenticated": [{}],
  "api.forbidden": [{ request, ability: "suspend" }],
  "api.forbidden/track": [{ request: "GET /api/v1/accounts" }],
  "api.forbidden/restricted": [{ request }],
  "api.forbidden/refused": [{ request, ability: "suspend" }],
  "api.not_found": [{ request: "GET /api/v1/services", status: 404 }],
  "api.not_found/object": [{ status: 410 }],
  "api.validation": [true, false].map((changes) => ({ request, changes })),
  "api.conflict": [{ request, status: 423 }],
  "api.conflict/key": [{}],
  "api.rejected": [{ request, status: 418 }],
  "api.rejected/key": [{ status: 422 }],
  "api.rate_limited": [{}],
  "api.rate_limited/pause": [pause, { ...pause, isRepeated: true, again: "2026-11-21 10:02 UTC" }],
  "api.redirect": [
    { status: 301, target: "" },
    { status: 302, target: " to https://login.example" },
  ],
  "api.server": [{ status: 500 }],
  "api.timeout": [{ ...asked, seconds: 30 }],
  "api.timeout/paused": [asked],
  "api.timeout/host": [{}],
  "api.unreachable": [
    { ...asked, failure: "connecting to api.acme.example:443: connection refused", isPaused: false, fix: undefined },
    { ...asked, failure: "host not found", isPaused: true, fix: ["Check the base URL."] },
  ],
  "api.unreachable/proxy": [{}],
  "api.deprecated": [undefined, "https://host.example/v1"].map((page) => ({
    request: read,
    announced: "ends on 2027-06-30",
    page,
  })),
  "provider.base_url": [{}],
  "provider.base_url/scheme": [{ scheme: "ftp:" }],
  "provider.base_url/credentials": [{}],
  "provider.base_url/query": [{}],
  "provider.base_url/version": [{}],
  "provider.base_url/plain": [{ host: "api.acme.example" }],
  "provider.proxy": [{ variable: "HTTPS_PROXY" }],
  "provider.token": [{ of: "provider beta", variable: "BETA_TOKEN", state: "not set", set: "export BETA_TOKEN=…" }],
  "provider.token/empty_file": [{ of: "provider beta", file: "/srv/acme/token." }],
  "provider.token/file": [
    { of: "provider beta", failure: "/srv/acme/token: its permissions do not allow it.", base: "the project" },
  ],
  "provider.token/absent": [{}],
  "provider.token/characters": [{}],
  "trust.origin": ["https://evil.example", undefined].map((origin) => ({
    of: "provider beta",
    origin,
    allowed: "https://api.acme.example",
  })),
  "trust.origin/malformed": [{}],
  "trust.origin/empty": [{}],
  "trust.override": [{ of: "provider beta", origin: "https://other.example" }],
  "config.invalid_value/share": [{}],
  "config.invalid_value/store": [{}],
  "state.backend/unset": [{}],
  "state.backend/sslmode": [{ modes: "disable, require" }],
  "state.backend/port": [{}],
  "state.backend/unverified": ["disable", "require"].map((mode) => ({ mode, host: "db.example" })),
  "state.backend/address": [{}],
  "state.backend/pairs": [{}],
  "secret.output": [
    { ...hook, what: "secret", place: "the file hook", reason: "It is in use.", remedy: "Name another file." },
  ],
};
