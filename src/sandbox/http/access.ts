/** Who may do what (§5): tokens, abilities, the account, and the restriction to services. Each refusal names the check that failed (§7). */

import { Refusal, notFound } from "../refusal.ts";
import type { Ability, Customer, Invoice, Service, Token } from "../store/records.ts";
import type { Store } from "../store/store.ts";

/** The token of an `Authorization: Bearer` header, or undefined when the header or the token is unknown. */
export function findToken(store: Store, authorization: string | undefined): Token | undefined {
  const value = /^Bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
  if (value === undefined) return undefined;
  return store.table("tokens").find((token) => token.value === value);
}

/** What to call a token without giving away its value: its name, with its id when an older one has the same name. */
export function uniqueName(store: Store, { id, name }: Token): string {
  return store.table("tokens").find((token) => token.name === name)?.id === id ? name : `${name}#${id}`;
}

/** 401: its body is not specified (§7 Gaps). */
export function unauthenticated(): Refusal {
  return new Refusal(401, "Unauthenticated.", { headers: { "WWW-Authenticate": "Bearer" } });
}

/** Refuses a token without the ability, or whose issuing user has lost the permission behind it (§5.2, §5.3). */
export function requireAbility(store: Store, token: Token, ability: Ability): void {
  if (!token.abilities.includes(ability)) {
    throw new Refusal(403, `This token does not have the "${ability}" ability.`);
  }
  const user = store.table("users").get(token.user_id);
  if (user === undefined || !user.permissions.includes(ability)) {
    throw new Refusal(403, `The user who issued this token does not have the "${ability}" permission.`);
  }
}

/** The account that the token acts for. */
export function customerOf(store: Store, token: Token): Customer {
  const customer = store.table("customers").get(token.customer_id);
  if (customer === undefined) throw unauthenticated();
  return customer;
}

/** Refuses whatever does not belong to the token's account (§7: "wrong account"). */
export function requireOwn(token: Token, record: { customer_id: number }, what: string): void {
  if (record.customer_id !== token.customer_id) {
    throw new Refusal(403, `This ${what} belongs to another account than this token.`);
  }
}

/** Whether the token's restriction lets it see the order (§5.4). */
export function covers(token: Token, orderId: number): boolean {
  return token.service_ids?.includes(orderId) ?? true;
}

/** Refuses orders outside the token's restriction (§7: "service outside the token's restriction"). */
export function requireCovered(token: Token, orderId: number): void {
  if (!covers(token, orderId)) {
    throw new Refusal(403, `Service ${orderId} is outside this token's restriction to certain services.`);
  }
}

/**
 * Refuses orders by a restricted token: what it would create cannot be on its list. The specification asks for the
 * check on "every request" (§5.4) without naming this case.
 */
export function requireUnrestricted(token: Token): void {
  if (token.service_ids !== null) {
    throw new Refusal(403, "This token is restricted to certain services, so a new order is outside its restriction.");
  }
}

/** The service with this id, if the token may touch it: 404 unknown, 403 otherwise. */
export function accessService(store: Store, token: Token, id: number): Service {
  const service = store.table("services").get(id);
  if (service === undefined) throw notFound("service", id);
  requireOwn(token, service, "service");
  requireCovered(token, id);
  return service;
}

/** The invoice with this id, if the token may see it and the order it belongs to. */
export function accessInvoice(store: Store, token: Token, id: number): Invoice {
  const invoice = store.table("invoices").get(id);
  if (invoice === undefined) throw notFound("invoice", id);
  requireOwn(token, invoice, "invoice");
  requireCovered(token, invoice.order_id);
  return invoice;
}

/** Refuses accounts that are not on the Manage track (§4: "Manage track only"). */
export function requireManageTrack(customer: Customer): void {
  if (customer.track !== "manage") {
    throw new Refusal(403, "This account is not on the Manage track, which client accounts belong to.");
  }
}
