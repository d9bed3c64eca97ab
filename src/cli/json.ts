/**
 * Types of the documents that `--json` prints, published as `hostform/json`. In: the types of the parts that print. Out:
 * `JsonOutputs`, from which `npm run generate` derives `schemas/output.schema.json`. Must not: contain values.
 */
import type {
  AccountRecord,
  DomainAvailability,
  GrantRecord,
  InvoiceRecord,
  MigrationRequestRecord,
  PlanRecord,
  ServiceRecord,
  WebhookRecord,
} from "../core/api/index.ts";
import type { HistoryEntry, Json, JsonObject } from "../core/model/index.ts";
import type {
  AccountReport,
  ConditionJson,
  DiagnosticJson,
  DoctorJson,
  EvidenceReport,
  FleetReport,
  Noted,
  PlanJson,
  UiMessage,
  WatchUiMessage,
} from "../report/index.ts";

export type {
  AccountReport,
  ConditionJson,
  DiagnosticJson,
  DoctorJson,
  FleetReport,
  PlanJson,
  UiMessage,
  WatchUiMessage,
};

/** Documents of the commands by their names. A later minor version may add fields, values of `type` and commands. */
export interface JsonOutputs
  extends Record<`edit ${Edit}` | "project split" | "project join", EditJson>,
    Record<`fleet ${"plan" | "status" | "apply"}`, FleetReport>,
    Record<"status" | "audit", AccountReport>,
    Record<`state ${"encrypt" | "rotate-key"}`, Own<{ encrypted: boolean; changed: boolean }>>,
    Record<`sandbox ${"trigger" | "deliveries" | "redeliver"}`, readonly SandboxDelivery[]>,
    Record<"apply" | "destroy", UiMessage> {
  /** Any command that fails. */
  readonly error: Own<{ errored: true; diagnostics: readonly DiagnosticJson[] }>;
  readonly plan: PlanJson;
  /** A saved plan, or the state. */
  readonly show: PlanJson | PlanJson["prior_state"];
  readonly watch: UiMessage | WatchUiMessage;
  readonly validate: Own<{
    valid: boolean;
    error_count: number;
    warning_count: number;
    diagnostics: readonly DiagnosticJson[];
  }>;
  /** `text`: formatted standard input. */
  readonly fmt: Own<{ changed: readonly string[]; text?: string }>;
  readonly import: Own<{ address: string; id: Json; differences: readonly string[] }>;
  readonly adopt: Own<{
    dry_run: boolean;
    /** Number of adopted objects by noun. */
    objects: Readonly<Record<string, number>>;
    files: readonly { readonly file: string; readonly new: boolean }[];
    /** Reasons for unmanaged objects. */
    left: readonly string[];
    /** Values that the API does not return. */
    unknown: readonly string[];
    requests: number;
    plan: { readonly changes: number; readonly other_changes: number };
  }>;
  /** Evidence about pending creates, or the result of one decision. */
  readonly resolve:
    | readonly (EvidenceReport & { readonly type: string; readonly because: string })[]
    | Own<{ address: string; settled: "absent" | "adopted"; id?: string; stored?: boolean }>;
  readonly "policy test": Own<{ cases: readonly PolicyCase[] }>;
  readonly "notify test": Own<{
    deliveries: readonly {
      readonly channel: string;
      readonly sent: boolean;
      readonly error?: string;
      readonly fix?: string;
      /** True if the channel failed but may have received the message. */
      readonly isUnknown?: boolean;
    }[];
  }>;
  readonly "fleet check": Own<{ projects: readonly string[] }>;
  /** Outputs by name, or the value of one output. Contains sensitive values. */
  readonly output: Json;
  readonly "state list": readonly { readonly address: string; readonly id: Json; readonly provider: string }[];
  readonly "state show": Own<{
    address: string;
    provider: string;
    dependencies: readonly string[];
    sensitive: readonly string[];
    /** Intent of a create request without a known result. */
    pending?: object;
    attributes: JsonObject;
  }>;
  readonly "state rm": Own<{ removed: readonly string[] }>;
  readonly "state mv": Own<{ moved: readonly { readonly from: string; readonly to: string }[] }>;
  readonly "state push": Own<{ pushed: true }>;
  /** Numbers of copied entries. Null if nothing was copied. */
  readonly "state migrate": Own<{ resources: number | null; history: number | null }>;
  readonly "state decrypt": Own<{
    encrypted: false;
    changed: boolean;
    in_the_clear: readonly { readonly address: string; readonly attributes: readonly string[] }[];
  }>;
  readonly history: readonly HistoryEntry[];
  readonly "history prune": Own<{ pruned: number }>;
  readonly "force-unlock": Own<{
    unlocked: boolean;
    holder: LockHolder | null;
    alive?: boolean | null;
  }>;
  readonly plans: Rows<PlanRecord>;
  readonly services: Rows<ServiceRecord>;
  readonly invoices: Rows<InvoiceRecord & { readonly domain: string | null; readonly client: string | null }>;
  readonly grants: Rows<GrantRecord>;
  readonly webhooks: Rows<WebhookRecord>;
  readonly accounts: Rows<AccountRecord>;
  readonly migrations: Rows<MigrationRequestRecord>;
  readonly "domains check": Rows<DomainAvailability>;
  readonly "webhooks listen": ListenMessage;
  readonly "webhooks verify": Own<{ fits: true; secret_from: string; event: EventJson | null; problem?: string }>;
  /** `password` is the generated password. */
  readonly password: Own<{ service_id: string; generated: boolean; password?: string }>;
  readonly sso: Own<{ service_id: string; url?: string; opened?: true }>;
  readonly export: Own<{
    file?: string;
    changed?: boolean;
    configuration?: string;
    diagnostics: readonly DiagnosticJson[];
  }>;
  readonly "terraform install": Own<{
    version: string;
    platform: string;
    platforms: readonly string[];
    mirror: string;
    file: string;
    changed: boolean;
  }>;
  readonly init: Own<{ project: string; written: readonly string[] }>;
  readonly schema: Own<{ written: readonly string[] }>;
  readonly sandbox: Own<{
    base_url: string;
    control_url: string;
    tokens: Readonly<Record<string, string>>;
    export: Readonly<Record<string, string>>;
  }>;
  readonly version: Own<{ version: string; node: string; platform: string }>;
  readonly doctor: DoctorJson;
}

type Own<Fields> = { readonly format_version: "1.0" } & Readonly<Fields>;
/** Records of the API client without their raw form. */
type Rows<Row> = readonly (Omit<Row, "raw"> & Noted)[];
type Edit = "suspend" | "unsuspend" | "remove" | "rename" | "hand-over" | "add" | "revoke" | "accept";

type EditJson = Own<{
  dry_run: boolean;
  changes: readonly { readonly file: string; readonly diff: string }[];
  notes: readonly string[];
}>;

interface PolicyCase {
  readonly name: string;
  readonly ok: boolean;
  readonly expected: PolicyOutcome;
  readonly found: PolicyOutcome;
}

/** Names of rules. */
type PolicyOutcome = { readonly denies: readonly string[]; readonly warns: readonly string[] };

interface LockHolder {
  readonly id: string;
  readonly command: string;
  /** User and machine: `user@host`. */
  readonly who: string;
  /** Null for Terraform. */
  readonly pid: number | null;
  readonly since: string;
  readonly lastAlive?: string;
}

export interface EventJson {
  readonly event: string;
  /** True if the specification names the event. */
  readonly known: boolean;
  readonly timestamp: string | null;
  readonly service_id: string | null;
  readonly invoice_id: string | null;
  readonly order_id: string | null;
}

/** A line of `webhooks listen --json`. Times are ISO 8601. `answered`: HTTP status for the sender. */
export type ListenMessage =
  | Own<{ type: "listening"; url: string; subscription: string | null; forward_to: string | null }>
  | ({
      readonly type: "delivery";
      readonly at: string;
      readonly outcome: "received" | "forwarded" | "failed" | "duplicate" | "busy" | "left out";
      readonly again?: true;
      readonly answered: number;
      readonly identity: string;
      readonly forward?: {
        readonly status: number | null;
        readonly error: string | null;
        readonly milliseconds: number;
      };
      /** With `--verbose`. */
      readonly data?: Readonly<Record<string, unknown>> | null;
    } & EventJson)
  | {
      readonly type: "refused";
      readonly at: string;
      readonly answered: number;
      readonly code: string;
      readonly message: string;
      /** Number of earlier rejections of this kind without a line. */
      readonly more: number;
    }
  | { readonly type: "broken"; readonly at: string; readonly message: string }
  | { readonly type: "stopped"; readonly taken: number; readonly refused: number };

/** A delivery of the sandbox. Other versions may omit fields. */
export interface SandboxDelivery {
  readonly id: number;
  readonly customer_id: number;
  readonly webhook_id: number;
  readonly event: string;
  readonly url: string;
  /** `pending`, `delivered`, `abandoned` or `blocked`. */
  readonly status: string;
  /** Attempts. `status` is null without a response. */
  readonly attempts: readonly { readonly at: string; readonly status: number | null; readonly error: string | null }[];
  readonly body?: string;
  /** Id of the original delivery. */
  readonly replay_of: number | null;
  readonly created_at: string;
}
