import * as z from "zod";
import type { Backend, JsonObject } from "../../core/model/index.ts";
import { type DiagnosticCollector, unique } from "./diagnostics.ts";
import { problem } from "./messages.ts";
import { namesSecret, rangeOf } from "./source.ts";
import { type ReadContext, settingValue } from "./templates.ts";
import { type Entry, isNull, locate, valueSpan } from "./tree.ts";

/** Reads settings that YAML and stacks share: backend, provider, and name of the project. */

const address = (of: string) =>
  z
    .url({ protocol: /^https?$/, hostname: /./, error: "expected an address such as https://gitlab.example/…" })
    .optional()
    .describe(of);

const method = (of: string) =>
  z
    .string("expected a method of HTTP")
    .regex(/^[A-Z]{1,20}$/, "expected a method of HTTP, such as POST")
    .optional()
    .describe(of);

const nameInDatabase = (of: string) =>
  z.string("expected a name").min(1, "expected a name").max(63, "at most 63 characters").optional().describe(of);

const text = (of: string) => z.string("expected a name").min(1, "expected a name").describe(of);
const flag = (of: string) => z.boolean("expected true or false").optional().describe(of);
const workspace = z
  .string("expected a name")
  .regex(/^[A-Za-z0-9_.~-]{1,90}$/, "expected letters, digits, `_`, `.`, `~` and `-`")
  .optional()
  .describe("Name of the state, as a Terraform workspace. Default: default.");

/** Names of objects: each part of the path is neither empty nor `.` nor `..`. */
const OBJECT = /^(?!(?:.*\/)?\.{0,2}(?:\/|$)).{1,900}$/;

/** Schema of the section `backend`, also for editors: Terraform's backends, with Terraform's names. */
export const backendSettings = {
  http: z.strictObject({
    address: address("URL of the state. Default: the environment variable TF_HTTP_ADDRESS."),
    update_method: method("HTTP method that writes the state. Default: POST."),
    lock_address: address("URL that locks the state. For GitLab: the address followed by /lock."),
    lock_method: method("HTTP method that locks the state. Default: LOCK. GitLab needs POST."),
    unlock_address: address("URL that unlocks the state. Default: lock_address."),
    unlock_method: method("HTTP method that unlocks the state. Default: UNLOCK. GitLab needs DELETE."),
    without_lock: flag("Allow a state without a lock_address. Something else must prevent simultaneous runs."),
  }),
  pg: z.strictObject({
    schema_name: nameInDatabase(
      "PostgreSQL schema of the table of states. Default: PG_SCHEMA_NAME, else terraform_remote_state.",
    ),
    table_name: nameInDatabase("Table of states, as in OpenTofu. Default: PG_TABLE_NAME, else states."),
    index_name: nameInDatabase("Index of the table, by name. Default: PG_INDEX_NAME, else states_by_name."),
    workspace,
  }),
  s3: z.strictObject({
    bucket: text("Name of the bucket.").regex(/^[A-Za-z0-9][\w.-]{1,61}[A-Za-z0-9]$/, "expected the name of a bucket"),
    key: text("Name of the object with the state.").regex(OBJECT, "expected a path without `.` and `..`"),
    region: text("Region of the bucket. Default: AWS_REGION, else AWS_DEFAULT_REGION.")
      .regex(/^[a-z0-9-]+$/, "expected a region such as eu-central-1")
      .optional(),
    endpoints: z
      .strictObject({ s3: address("URL of a store other than Amazon S3. Default: AWS_ENDPOINT_URL_S3.") })
      .optional(),
    endpoint: address("Earlier name of endpoints.s3."),
    workspace,
    workspace_key_prefix: text("Prefix of the key for each workspace except default. Default: `env:`.")
      .regex(OBJECT, "expected a path without `.` and `..`")
      .optional(),
    use_path_style: flag("Put the name of the bucket into the path, and not into the host."),
    force_path_style: flag("Earlier name of use_path_style."),
    encrypt: flag("Request encryption at the store."),
    use_lockfile: z
      .literal(true, "expected true: hostform always locks the state")
      .optional()
      .describe("Terraform locks the state only with true."),
    profile: text("Profile for Terraform. hostform reads only the environment.").optional(),
    ...Object.fromEntries(
      ["credentials_validation", "metadata_api_check", "region_validation", "requesting_account_id", "s3_checksum"].map(
        (name) => [`skip_${name}`, flag("For Terraform only. hostform ignores it.")],
      ),
    ),
  }),
} as const;

type Type = keyof typeof backendSettings;
const TYPES = Object.keys(backendSettings) as readonly Type[];
export const isBackendType = (name: string): name is Type => Object.hasOwn(backendSettings, name);
const CREDENTIALS = /^(?:user(?:name)?|conn_str|client_private_key_pem)$/;
/** Pattern of credentials in a URL: before the host, or as a parameter. */
const CREDENTIALS_IN_URL = /^[^/]*\/\/[^/]*@|[?&][^=&]*(?:token|password|secret|key)[^=&]*=/i;

/**
 * Returns the backend of all documents. "unclear" if an error may hide it.
 * @param complete True if all files could be read.
 */
export function mergeBackend(
  sections: readonly Entry[],
  complete: boolean,
  context: ReadContext,
): Backend | undefined | "unclear" {
  unique(sections, () => "`backend`", context.diags);
  const [backend, ...others] = sections.map((section) => readBackend(section, context) ?? "unclear");
  return complete && others.length === 0 ? backend : "unclear";
}

/**
 * Reads the section `backend`. Evaluates `${env.NAME}`, because a plan needs the state. Rejects credentials.
 * @returns undefined after a reported error, so that no wrong state is opened.
 */
function readBackend(section: Entry, context: ReadContext): Backend | undefined {
  const { diags } = context;
  const { value: tree } = section;
  const [entry, ...others] = tree.form === "map" ? [...tree.entries.values()] : [];
  if (entry === undefined || others.length > 0) {
    const name = others.length > 0 ? "config.structure/backends" : "config.structure/no_backend";
    return diags.add(others[0]?.keySpan ?? valueSpan(section), problem(name));
  }
  const type = TYPES.find((one) => one === entry.key);
  if (type === undefined) {
    return diags.add(entry.keySpan, problem("config.unknown_key/backend", diags.unknown(entry.key, TYPES)));
  }
  const settings = readSettings(type, entry, context);
  return settings && { type, settings, range: rangeOf(entry.keySpan) };
}

/**
 * Reads literal backend settings. Rejects credentials.
 * @param section Entry whose key is the type of the backend.
 * @returns undefined after a reported error.
 */
export function backendOfEntry(type: Type, section: Entry, diags: DiagnosticCollector): Backend | undefined {
  const settings = readSettings(type, section, { env: { read: () => undefined }, diags });
  return settings && { type, settings, range: rangeOf(section.keySpan) };
}

function readSettings(type: Type, section: Entry, context: ReadContext): JsonObject | undefined {
  const { value: tree } = section;
  if (isNull(tree)) return {};
  if (tree.form !== "map") {
    return context.diags.add(valueSpan(section), problem("config.structure/backend_settings", { type }));
  }
  const read = [...tree.entries.values()].map((entry) => readSetting(type, entry, context));
  return read.includes(undefined) ? undefined : Object.assign({}, ...read);
}

/** Environment variables for the credentials of a backend. */
const VARIABLES = {
  http: "TF_HTTP_USERNAME and TF_HTTP_PASSWORD",
  pg: "PG_CONN_STR",
  s3: "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN",
} as const;

function readSetting(type: Type, entry: Entry, context: ReadContext): JsonObject | undefined {
  const { diags } = context;
  const { key, keySpan } = entry;
  const { shape } = backendSettings[type];
  const refuseSecret = () => diags.add(keySpan, problem("config.secret/backend", { key, variables: VARIABLES[type] }));
  if (namesSecret(key) || CREDENTIALS.test(key)) return refuseSecret();
  if (key === "dynamodb_table") return diags.add(keySpan, problem("config.unsupported/dynamodb"));
  if (!Object.hasOwn(shape, key)) {
    const known = diags.unknown(key, Object.keys(shape));
    return diags.add(keySpan, problem("config.unknown_key/backend_setting", { ...known, type }));
  }
  const value = settingValue(entry, backendSettings[type], "backend", context);
  if (value === undefined) return undefined;
  if (typeof value === "string" && CREDENTIALS_IN_URL.test(value)) return refuseSecret();
  return checkedSetting<z.ZodObject>(backendSettings[type], entry, value, diags) as JsonObject | undefined;
}

/**
 * Validates one setting.
 * @param value Evaluated value.
 * @returns the parsed value. Undefined after reported errors.
 */
export function checkedSetting<Schema extends z.ZodObject>(
  schema: Schema,
  entry: Entry,
  value: unknown,
  diags: DiagnosticCollector,
): Partial<z.output<Schema>> | undefined {
  const parsed = schema.partial().safeParse({ [entry.key]: value });
  if (parsed.success) return parsed.data as Partial<z.output<Schema>>;
  for (const { path, message } of parsed.error.issues) {
    const steps = path.map(String);
    const span = steps.length > 1 ? locate(entry.value, steps.slice(1)) : valueSpan(entry);
    diags.add(span, problem("config.invalid_value/setting", { path: steps.join("."), message }));
  }
  return undefined;
}
