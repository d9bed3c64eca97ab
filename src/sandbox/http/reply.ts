/** What a route answers, before it takes a form on the wire. `shape/` knows the form of each. */
import type { Account, Customer, DomainOrder, Grant, Invoice, MigrationRequest, Plan, Service, Webhook } from "../store/records.ts";

/** One record that is sent, and of which kind it is. */
export type Sent =
  | { kind: "plan"; record: Plan; customer: Customer }
  | { kind: "service"; record: Service }
  | { kind: "invoice"; record: Invoice }
  | { kind: "grant"; record: Grant }
  | { kind: "webhook"; record: Webhook; withSecret: boolean }
  | { kind: "account"; record: Account }
  | { kind: "migration_request"; record: MigrationRequest }
  | { kind: "domain"; record: DomainOrder };

/** What an availability check found. */
export interface Availability {
  domain: string;
  available: boolean;
}

export type Reply =
  /** One page of a list. */
  | { form: "page"; name: string; items: Sent[]; page: number; perPage: number; total: number }
  /** One record. */
  | { form: "one"; status: 200 | 201; item: Sent }
  /** A new order with its invoice. */
  | { form: "ordered"; item: Sent; invoice: Invoice }
  /** A value that is sent once: a sign-on URL. */
  | { form: "value"; status: 200 | 201; value: unknown }
  /** A generated password, sent once. */
  | { form: "password"; password: string }
  | { form: "checked"; results: Availability[] }
  /** A background job was queued for the service, which still is as it was. */
  | { form: "queued"; message: string; service: Service }
  /** Something was done, and there is no record to show. */
  | { form: "done"; status: 200; message: string };
