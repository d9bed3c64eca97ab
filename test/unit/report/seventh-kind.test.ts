import { describe, expect, it } from "vitest";
import { apply, type PlanOptions, plan } from "../../../src/core/engine/index.ts";
import { type Kind, type Kinds, wordsOf } from "../../../src/core/kinds/index.ts";
import type { Observation } from "../../../src/core/lifecycle/index.ts";
import type { Desired, JsonObject, Plan, ResourceState, State } from "../../../src/core/model/index.ts";
import { namedBy } from "../../../src/project/watch/schedule.ts";
import { renderOutcome, renderPlan, renderPlanMarkdown, renderRecordedMarkdown } from "../../../src/report/index.ts";
import { START, testClock } from "../../support/clock.ts";
import { fixOf } from "../../support/remedies.ts";
import {
  complete,
  declared,
  desiredOf,
  fakeAccount,
  fakeWriter,
  kindOf,
  liveGrant,
  liveService,
  stateOf,
} from "../../support/subjects.ts";

/** Three kinds that the sources do not know. They send the requests of existing kinds, and have their own words. */
const mailBox: Kind = {
  ...kindOf("hosting_service"),
  type: "hosting_mail_box",
  section: "mail_boxes",
  noun: "mail box",
  words: { name: "domain", site: "domain", siteless: "The mail box", ordered: "is booked", rank: 0 },
};
const seat: Kind = {
  ...kindOf("hosting_grant"),
  type: "hosting_seat",
  section: "seats",
  noun: "seat",
  words: {
    name: "email",
    parent: { attribute: "service_id", type: "hosting_mail_box", noun: "mail box", plural: "mail boxes" },
    access: { person: "email", levels: ["view", "manage"], permission: "permission" },
  },
};
const logDrain: Kind = {
  ...kindOf("hosting_webhook"),
  type: "hosting_log_drain",
  section: "log_drains",
  noun: "log drain",
  words: {
    name: "url",
    site: "url",
    integration: {
      create: "Log lines flow to {site}.",
      delete: "No log lines flow to {site}.",
      replace: "The drain of {site} is opened again.",
      undo: "Open the drain.",
    },
  },
  isNamedBy: ({ event }, { url }) => event === "log.lost" && url === "https://logs.acme.example",
};
const kinds: Kinds = new Map([mailBox, seat, logDrain].map((kind) => [kind.type, kind]));

const recorded = (address: string, attributes: JsonObject, over: Partial<ResourceState> = {}): ResourceState => {
  const rest = { provider: "default", schemaVersion: 0, sensitive: [], private: {}, dependencies: [] };
  return { address, attributes, ...rest, ...over };
};

/** Nouns of the existing kinds. Names of attributes and addresses are no nouns. */
const OTHERS = /\b(?:services?|webhooks?|grants?|servers?|client accounts?|migration requests?)\b/i;
const style = { color: false, width: undefined, remedies: fixOf };
const absent: Observation = { status: "absent", matches: [] };
const present = (attributes: JsonObject): Observation => ({ status: "present", attributes, phase: "live" });

const MAIL = "hosting_mail_box.acme";
const SEAT = 'hosting_seat.acme["dev@acme.example"]';
const DRAIN = "hosting_log_drain.acme";
const box = { plan_id: 11, currency: "USD", domain: "mail.acme.example" };
const liveBox = complete(mailBox, { ...liveService, ...box, deletion_policy: "suspend" });
const liveSeat = complete(seat, { ...liveGrant, service_id: liveService.id ?? null });
const drain = declared(DRAIN, { url: "https://logs.acme.example", events: ["invoice.paid"] });

function planOf(
  desired: Desired,
  state: State,
  seen: Iterable<[string, Observation]>,
  over: Partial<PlanOptions> = {},
) {
  const observed = { observations: new Map(seen), plans: new Map() };
  const rest = { kinds, env: {}, mode: "apply", reorder: new Set<string>(), now: START, readRequests: 0 } as const;
  return plan({ desired, state, observed, ...rest, ...over });
}

/** Returns the plan in each format for users. */
const textsOf = (made: Plan) => [renderPlan(made, style), renderPlanMarkdown(made, style)].join("\n");

describe("a kind that the reports do not know", () => {
  it("is ordered, gives access and receives in its own words", () => {
    const access = declared(SEAT, { service_id: `\${${MAIL}.id}`, email: "dev@acme.example", permission: "view" });
    const made = planOf(desiredOf(declared(MAIL, box), access, drain), stateOf(), [
      [MAIL, absent],
      [SEAT, absent],
      [DRAIN, absent],
    ]);
    const text = textsOf(made);
    expect(made.diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
    expect(text).toContain("Orders 1 mail box for an unknown price, gives 1 person access and changes 1 log drain.");
    expect(text).toContain("Orders: 1 mail box, price unknown");
    expect(text).toContain(`${SEAT} will be created; access is given`);
    expect(text).toContain("gets `view` access to `mail.acme.example`");
    expect(text).toMatch(/Log drains.*\n.*Log lines flow to `https/s);
    expect(text).not.toMatch(OTHERS);
  });

  it("is suspended and taken away in its own words", () => {
    const state = stateOf(recorded(MAIL, liveBox), recorded(SEAT, liveSeat, { dependencies: [MAIL] }));
    const made = planOf(desiredOf(), state, [
      [MAIL, present(liveBox)],
      [SEAT, present(liveSeat)],
    ]);
    const text = textsOf(made);
    expect(text).toContain(`1 mail box goes offline: ${MAIL}.`);
    expect(text).toContain("loses `view` access to `mail.acme.example`");
    expect(text).not.toMatch(OTHERS);
  });

  it("waits and is left unread in its own words", () => {
    const made = planOf(desiredOf(declared(MAIL, { ...box, suspended: true })), stateOf(), [[MAIL, absent]]);
    const notRead = [{ address: MAIL, type: "hosting_mail_box", parent: null, last_read: null }];
    const text = textsOf({ ...made, notRead });
    expect(text).toContain("suspended waits until the mail box is live");
    expect(text).toContain("Not read: 1 mail box;");
    expect(text).not.toMatch(OTHERS);
  });

  it("is applied, and its outcome names no other kind", async () => {
    const made = planOf(desiredOf(drain), stateOf(), [[DRAIN, absent]]);
    const { account, kind } = fakeAccount(logDrain);
    const writer = fakeWriter(({ body }) => ({ id: "7", raw: {}, created_at: null, secret: "s3", ...body }));
    const stored: string[] = [];
    const result = await apply({
      plan: made,
      desired: desiredOf(drain),
      state: stateOf(),
      kinds: new Map([...kinds, [kind.type, kind]]),
      env: {},
      accounts: () => ({ account, writer }),
      recorder: { put: async ({ address }) => void stored.push(address), remove: async () => undefined },
      clock: testClock(),
      concurrency: 1,
      waitMs: 0,
      stop: new AbortController().signal,
      onEvent: () => undefined,
      requests: () => writer.sent.length,
    });
    expect(result.outcomes).toMatchObject([{ address: DRAIN, result: "done" }]);
    expect(stored).toContain(DRAIN);
    expect(renderOutcome(made, result, style)).not.toMatch(OTHERS);
  });

  it("has a table of its own in the state, with the site of its parent", () => {
    const resources = [recorded(SEAT, liveSeat), recorded(MAIL, liveBox)];
    const words = (type: string) => wordsOf(kinds.get(type) ?? mailBox);
    const all = { project: "acme", serial: 1, resources, outputs: new Map() };
    const text = renderRecordedMarkdown(all, { ...style, hidden: () => new Set(), words });
    expect(text).toContain("The state has 1 mail box, 1 seat.");
    expect(text).toContain("Mail boxes: 1");
    expect(text).toMatch(/dev@acme\.example.*mail\.acme\.example/);
    expect(text).not.toMatch(OTHERS);
  });

  it("is read by watch if its hook names it", () => {
    const state = stateOf(recorded(DRAIN, complete(logDrain, { url: "https://logs.acme.example" })));
    const event = { event: "log.lost", service: "9", invoice: undefined };
    expect(namedBy([event], state, kinds, false).targets).toEqual([DRAIN]);
  });
});
