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
import type { HistoryEntry, Json, JsonObject, Mandate } from "../core/model/index.ts";
import type {
  AccountReport,
  DiagnosticJson,
  DoctorJson,
  EvidenceReport,
  FleetReport,
  MandateRow,
  Noted,
  PlanJson,
  ReceiptRow,
  RehearsalJson,
  UiMessage,
  WatchUiMessage,
} from "../report/index.ts";

export type { DiagnosticJson, PlanJson };

/** Documents of the commands by their names. A later minor version may add fields, values of `type` and commands. */
export interface JsonOutputs
  extends Record<`edit ${Edit}` | "project split" | "project join", EditJson>,
    Record<`fleet ${"plan" | "status" | "apply"}`, FleetReport>,
    Record<"status" | "audit", AccountReport>,
    Record<`state ${"encrypt" | "rotate-key"}`, Own<{ encrypted: boolean; changed: boolean }>>,
    Record<`sandbox ${"trigger" | "deliveries" | "redeliver"}`, readonly SandboxDelivery[]>,
    Record<"apply" | "destroy", UiMessage> {
  /** Any command that fails. */
  error: Own<{ errored: true; diagnostics: readonly DiagnosticJson[] }>;
  plan: PlanJson;
  rehearse: RehearsalJson;
  /** A saved plan, or the state. */
  show: PlanJson | PlanJson["prior_state"];
  watch: UiMessage | WatchUiMessage;
  validate: Own<{
    valid: boolean;
    error_count: number;
    warning_count: number;
    diagnostics: readonly DiagnosticJson[];
  }>;
  /** `text`: formatted standard input. */
  fmt: Own<{ changed: readonly string[]; text?: string }>;
  import: Own<{ address: string; id: Json; differences: readonly string[] }>;
  adopt: Own<{
    dry_run: boolean;
    /** Number of adopted objects by noun. */
    objects: Readonly<Record<string, number>>;
    files: readonly { file: string; new: boolean }[];
    /** Reasons for unmanaged objects. */
    left: readonly string[];
    /** Values that the API does not return. */
    unknown: readonly string[];
    requests: number;
    plan: { changes: number; other_changes: number };
  }>;
  /** Evidence about pending creates, or the result of one decision. */
  resolve:
    | readonly (EvidenceReport & { type: string; because: string })[]
    | Own<{ address: string; settled: "absent" | "adopted"; id?: string; stored?: boolean }>;
  "policy test": Own<{ cases: readonly PolicyCase[] }>;
  "notify test": Own<{
    deliveries: readonly {
      channel: string;
      sent: boolean;
      error?: string;
      fix?: string;
      /** True if the channel failed but may have received the message. */
      isUnknown?: boolean;
    }[];
  }>;
  "fleet check": Own<{ projects: readonly string[] }>;
  /** Outputs by name, or the value of one output. Contains sensitive values. */
  output: Json;
  "state list": readonly { address: string; id: Json; provider: string }[];
  "state show": Own<{
    address: string;
    provider: string;
    dependencies: readonly string[];
    sensitive: readonly string[];
    /** Intent of a create request without a known result. */
    pending?: object;
    attributes: JsonObject;
  }>;
  "state rm": Own<{ removed: readonly string[] }>;
  "state mv": Own<{ moved: readonly { from: string; to: string }[] }>;
  "state push": Own<{ pushed: true }>;
  /** Numbers of copied entries. Null if nothing was copied. */
  "state migrate": Own<{ resources: number | null; history: number | null }>;
  "state decrypt": Own<{
    encrypted: false;
    changed: boolean;
    in_the_clear: readonly { address: string; attributes: readonly string[] }[];
  }>;
  history: readonly HistoryEntry[];
  "history prune": Own<{ pruned: number }>;
  "mandate key": Own<{ file: string; public_key: string }>;
  /** `file`: null if the mandate was printed. `text`: the signed file. */
  "mandate create": Own<{ mandate: Mandate; file: string | null; text: string }>;
  "mandate list": readonly MandateRow[];
  /** `revoked`: false if the mandate was revoked before. */
  "mandate revoke": Own<{ id: string; revoked: boolean }>;
  "mandate receipts": readonly ReceiptRow[];
  "force-unlock": Own<{
    unlocked: boolean;
    holder: LockHolder | null;
    alive?: boolean | null;
  }>;
  plans: Rows<PlanRecord>;
  services: Rows<ServiceRecord>;
  invoices: Rows<InvoiceRecord & { domain: string | null; client: string | null }>;
  grants: Rows<GrantRecord>;
  webhooks: Rows<WebhookRecord>;
  accounts: Rows<AccountRecord>;
  migrations: Rows<MigrationRequestRecord>;
  "domains check": Rows<DomainAvailability>;
  "webhooks listen": ListenMessage;
  "webhooks verify": Own<{ fits: true; secret_from: string; event: EventJson | null; problem?: string }>;
  /** `password` is the generated password. */
  password: Own<{ service_id: string; generated: boolean; password?: string }>;
  sso: Own<{ service_id: string; url?: string; opened?: true }>;
  export: Own<{
    file?: string;
    changed?: boolean;
    configuration?: string;
    diagnostics: readonly DiagnosticJson[];
  }>;
  "terraform install": Own<{
    version: string;
    platform: string;
    platforms: readonly string[];
    mirror: string;
    file: string;
    changed: boolean;
  }>;
  init: Own<{ project: string; written: readonly string[] }>;
  schema: Own<{ written: readonly string[] }>;
  sandbox: Own<{
    base_url: string;
    control_url: string;
    tokens: Readonly<Record<string, string>>;
    export: Readonly<Record<string, string>>;
  }>;
  version: Own<{ version: string; node: string; platform: string }>;
  doctor: DoctorJson;
}

type Own<Fields> = { format_version: "1.0" } & Readonly<Fields>;
/** Records of the API client without their raw form. */
type Rows<Row> = readonly (Omit<Row, "raw"> & Noted)[];
type Edit = "suspend" | "unsuspend" | "remove" | "rename" | "hand-over" | "add" | "revoke" | "accept";

type EditJson = Own<{
  dry_run: boolean;
  changes: readonly { file: string; diff: string }[];
  notes: readonly string[];
}>;

interface PolicyCase {
  name: string;
  ok: boolean;
  expected: PolicyOutcome;
  found: PolicyOutcome;
}

/** Names of rules. */
type PolicyOutcome = { denies: readonly string[]; warns: readonly string[] };

interface LockHolder {
  id: string;
  command: string;
  /** User and machine: `user@host`. */
  who: string;
  /** Null for Terraform. */
  pid: number | null;
  since: string;
  lastAlive?: string;
}

export interface EventJson {
  event: string;
  /** True if the specification names the event. */
  known: boolean;
  timestamp: string | null;
  service_id: string | null;
  invoice_id: string | null;
  order_id: string | null;
}

/** A line of `webhooks listen --json`. Times are ISO 8601. `answered`: HTTP status for the sender. */
export type ListenMessage =
  | Own<{ type: "listening"; url: string; subscription: string | null; forward_to: string | null }>
  | ({
      type: "delivery";
      at: string;
      outcome: "received" | "forwarded" | "failed" | "duplicate" | "busy" | "left out";
      again?: true;
      answered: number;
      identity: string;
      forward?: {
        status: number | null;
        error: string | null;
        milliseconds: number;
      };
      /** Data of the event. Only with `--verbose`. */
      data?: Readonly<Record<string, unknown>> | null;
    } & EventJson)
  | {
      type: "refused";
      at: string;
      answered: number;
      code: string;
      message: string;
      /** Number of earlier rejections of this kind without a line. */
      more: number;
    }
  | { type: "broken"; at: string; message: string }
  | { type: "stopped"; taken: number; refused: number };

/** A delivery of the sandbox. Other versions may omit fields. */
export interface SandboxDelivery {
  id: number;
  customer_id: number;
  webhook_id: number;
  event: string;
  url: string;
  /** `pending`, `delivered`, `abandoned` or `blocked`. */
  status: string;
  /** Attempts. `status` is null without a response. */
  attempts: readonly { at: string; status: number | null; error: string | null }[];
  body?: string;
  /** Id of the original delivery. */
  replay_of: number | null;
  created_at: string;
}
