/** The answers to requests that were carried out. */

import type { Availability, Reply, Sent } from "../http/reply.ts";
import type { Profile } from "../profile/profile.ts";
import type { Invoice } from "../store/records.ts";
import { envelope } from "./envelope.ts";
import { invoiceBody, itemBody } from "./items.ts";

export interface WireAnswer {
  status: number;
  /** Undefined: no body at all. */
  body: unknown;
}

const NO_CONTENT: WireAnswer = { status: 204, body: undefined };

/** The answer as it is sent. `url` is the request's own, for the links of the list envelope. */
export function shape(reply: Reply, profile: Profile, url: URL): WireAnswer {
  switch (reply.form) {
    case "page":
      return { status: 200, body: envelope(reply, profile, url) };
    case "one":
      return { status: reply.status, body: one(reply.item, profile) };
    case "ordered":
      return { status: 201, body: ordered(reply.item, reply.invoice, profile) };
    case "value":
      return { status: reply.status, body: single(reply.value, profile) };
    case "password":
      return { status: 200, body: single({ [profile.password]: reply.password }, profile) };
    case "checked":
      return { status: 200, body: single(checked(reply.results, profile), profile) };
    case "queued":
      return queued(reply, profile);
    case "done":
      if (profile.bodies === "empty204") return NO_CONTENT;
      return { status: reply.status, body: { message: reply.message } };
  }
}

/** Ids in a request body: a server that sends its ids as strings takes them back as strings. */
export function unshape(body: Record<string, unknown>, profile: Profile): Record<string, unknown> {
  if (profile.ids === "integer") return body;
  const read = { ...body };
  for (const name of ["plan_id", "order_id"]) {
    const value = read[name];
    if (typeof value === "string" && /^\d{1,15}$/.test(value)) read[name] = Number(value);
  }
  return read;
}

function single(body: unknown, profile: Profile): unknown {
  return profile.unwrapped === "yes" ? body : { data: body };
}

function one(item: Sent, profile: Profile): unknown {
  const body = itemBody(item, profile);
  const bare = item.kind === "webhook" && item.withSecret && profile.webhook === "bare";
  return bare ? body : single(body, profile);
}

function queued({ message, service }: Extract<Reply, { form: "queued" }>, profile: Profile): WireAnswer {
  switch (profile.queued) {
    case "message":
      return { status: 202, body: { message } };
    case "service":
      return { status: 200, body: one({ kind: "service", record: service }, profile) };
    case "no_content":
      return NO_CONTENT;
    case "empty":
      return { status: 202, body: undefined };
  }
}

function checked(results: readonly Availability[], profile: Profile): unknown {
  switch (profile.domain_check) {
    case "list":
      return results;
    case "map":
      return Object.fromEntries(results.map(({ domain, available }) => [domain, { available }]));
    case "is_available":
      return results.map(({ domain, available }) => ({ domain, is_available: available }));
    case "status":
      return results.map(({ domain, available }) => ({ domain, status: available ? "available" : "taken" }));
  }
}

function ordered(item: Sent, raised: Invoice, profile: Profile): unknown {
  const order = itemBody(item, profile);
  const invoice = invoiceBody(raised, profile);
  const wrapped = profile.unwrapped === "no";
  switch (profile.creation) {
    case "nested":
      return single({ ...order, invoice }, profile);
    case "beside":
      return wrapped ? { data: order, invoice } : { ...order, invoice };
    case "split":
      return single({ [item.kind]: order, invoice }, profile);
    case "invoice_wrapped":
      return wrapped ? { data: order, invoice: { data: invoice } } : { ...order, invoice: { data: invoice } };
  }
}
