/** What a route answers, before it takes a form on the wire. `shape.ts` knows the form of each. */
import type {
  Account,
  Customer,
  DomainOrder,
  Grant,
  Invoice,
  MigrationRequest,
  Plan,
  Service,
  Webhook,
} from "./records.ts";

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

export type Reply =
  /** One page of a list. */
  | { form: "page"; name: string; items: Sent[]; page: number; perPage: number; total: number }
  /** One record. */
  | { form: "one"; status: 200 | 201; item: Sent }
  /** A new order with its invoice. */
  | { form: "ordered"; item: Sent; invoice: Invoice }
  /** A value that is sent once: a password, a sign-on URL, or the results of a check. */
  | { form: "value"; status: 200 | 201; value: unknown }
  /** Something was done, or queued, and there is no record to show. */
  | { form: "done"; status: 200 | 202; message: string };
