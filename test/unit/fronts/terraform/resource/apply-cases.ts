/** Apply calls of Terraform against an account in a map, and the responses of a host. */
import { attributesOf } from "../../../../../src/core/lifecycle/index.ts";
import { type Intent, type JsonObject, UNKNOWN, type ValueObject } from "../../../../../src/core/model/index.ts";
import type { Entry } from "../../../../../src/fronts/terraform/entries.ts";
import { applyResource } from "../../../../../src/fronts/terraform/resource/apply.ts";
import type { Answer, Mark } from "../../../../../src/fronts/terraform/resource/attribute-mapping.ts";
import { START } from "../../../../support/clock.ts";
import { complete, failure, liveService, liveWebhook, recorded } from "../../../../support/subjects.ts";
import { asHeld, codesOf, type FakeScope, fakeScope, type Options } from "./fake-scope.ts";

export const HOOK = { url: "https://hooks.acme.example", events: ["invoice.paid"] };
export const ORDER = { plan_id: 11, currency: "USD", domain: "www.acme.example" };
export const DOMAIN = {
  domain: "acme.example",
  years: 1,
  currency: "USD",
  nameserver_mode: "default",
  registrant_contact: {},
};

export const hookMade = () => ({ ...liveWebhook, raw: {}, secret: "whsec_1" });

/** Response to an order. */
export const ordered =
  (status = "active", over: JsonObject = {}) =>
  () => ({
    service: { ...liveService, status, raw: {}, plan_id: null, created_at: new Date(START).toISOString(), ...over },
    invoice: null,
  });
export const refused = () => {
  throw failure("answered", 422);
};
export const lost = () => {
  throw failure("maybe");
};

/** Responses by endpoint. Any other request fails the test. */
export const answering =
  (answers: Readonly<Record<string, () => unknown>>): NonNullable<Options["answer"]> =>
  ({ endpoint }) => {
    const answer = answers[endpoint];
    if (answer === undefined) throw new Error(`${endpoint} was not to be sent`);
    return answer();
  };

/** One hour ago: lists contain the created object by now. */
export const LONG_AGO = new Date(START - 3_600_000).toISOString();
export const pendingOf = (operation: string): Intent => ({ since: LONG_AGO, operation });

export interface Asked extends Options {
  /** Absent: a create. */
  readonly prior?: JsonObject;
  readonly mark?: Mark;
  readonly note?: { readonly name: string; readonly note: Partial<Entry> };
  /** Planned values that differ from the recorded values, after the declared values. */
  readonly planned?: ValueObject;
  readonly cancelled?: AbortSignal;
  prepare?(place: FakeScope): void | Promise<void>;
}

export async function ask(type: string, config: JsonObject, asked: Asked = {}) {
  const { prior, mark = {}, note, planned: over, cancelled, prepare, ...options } = asked;
  const place = fakeScope(type, options);
  const { kind, front, entries, sent } = place;
  if (note !== undefined) {
    const defaults = attributesOf(kind).flatMap(({ name, meta }) => (meta.default ? [[name, meta.default]] : []));
    const attributes = complete(kind, { ...Object.fromEntries(defaults), ...config });
    await entries.put(type, note.name, { ...recorded(`${type}.a`, attributes), place: "this folder", ...note.note });
  }
  await prepare?.(place);
  const held = prior === undefined ? null : asHeld(kind, { ...prior });
  // The plan of a create does not know values that only a response contains.
  const isCreate = prior === undefined || mark.pending !== undefined;
  const computed = attributesOf(kind).filter(({ name, meta }) => meta.computed && config[name] === undefined);
  const open = Object.fromEntries(isCreate ? computed.map(({ name, meta }) => [name, meta.default ?? UNKNOWN]) : []);
  const planned = { ...asHeld(kind, { ...prior, ...config }), ...open, ...over } as ValueObject;
  const declared = asHeld(kind, config) as ValueObject;
  const question = { prior: held, planned, config: declared, mark, ...(cancelled && { cancelled }) };
  const answer: Answer = await applyResource(kind, question, front);
  return { ...place, answer, mutations: sent, sent: sent.map(({ endpoint }) => endpoint) };
}

/** Returns the codes that Terraform receives. */
export const saidIn = ({ waiting = [], diagnostics }: Answer): string[] => [
  ...waiting.map(({ code }) => `warning ${code}`),
  ...codesOf(diagnostics),
];
