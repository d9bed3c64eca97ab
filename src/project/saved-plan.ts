import { hash } from "node:crypto";
import path from "node:path";
import * as z from "zod";
import { read } from "../core/files/index.ts";
import { kinds, wordsOf } from "../core/kinds/index.ts";
import { stateFolder } from "../core/local/index.ts";
import {
  attempt,
  type Change,
  type EnvVars,
  ifErrno,
  ifExplained,
  isNoOp,
  isObject,
  type JsonObject,
  type KindWords,
  type Plan,
  parsedJson,
  parseExact,
  repeatsKeys,
} from "../core/model/index.ts";
import type { Encryption, Seal } from "../core/record/index.ts";
import { jsonText } from "../report/index.ts";
import { GUARD_FLAGS, type GuardFlags, guardForm } from "./guards.ts";
import { raise } from "./messages.ts";
import { beginsAsPlan, PLAN_FORM, writeOutput } from "./output-place.ts";
import type { Origin } from "./plan-origin.ts";
import type { Project } from "./project.ts";
import { leavingJson, type Redaction } from "./redaction.ts";
import type { ProjectSource } from "./source.ts";

/** Options of a plan. The apply of a saved plan uses the same options. */
export interface PlanRequest {
  readonly mode: "apply" | "destroy";
  readonly targets: readonly string[];
  readonly reorder: readonly string[];
  /** Addresses of webhooks and grants to replace. */
  readonly replace?: readonly string[];
  /** Addresses of services to order even if a similar service exists. */
  readonly orderAnyway?: readonly string[];
  /** Limits that replace the declared guards. */
  readonly guards?: GuardFlags;
}

/** A plan in a file. It can be applied once. It contains no secret. */
export interface SavedPlan {
  readonly request: PlanRequest;
  readonly origin: Origin;
  /** The plan. In a file, sensitive values are null. */
  readonly plan: Plan;
  /** SHA-256 of the bytes of the file. */
  readonly digest?: string;
  /** True if this run made the plan, or the key of the state proves the file. */
  readonly isProved?: true;
}

/** Version of the file format. `PROVED_VERSION`: with a proof by the key of the state. */
const VERSION = 1;
const PROVED_VERSION = 2;
/** Maximum size of a plan file in bytes. A plan of 20,000 resources needs about 40 MB. */
export const MOST_BYTES = 256 * 1024 * 1024;

const FOREIGN = "is not a plan that hostform saved";

/** Returns the folder for plans that have no other place, in the user's state folder. Undefined without a home folder. */
export function plansFolder(env: EnvVars): string | undefined {
  const home = stateFolder(env);
  return home && path.join(home, "plans");
}

/** Returns the key that proves saved plans, if the state has one. @throws HostformError `state.key`. */
export async function sealOf(state: Project["state"]): Promise<Seal | undefined> {
  const encryption = state.encryption();
  return encryption.key && encryption.recent();
}

/** Writes a plan atomically. Only the owner can read the file. @param given text of the file, if known. @throws HostformError as `placeForOutput` does. */
export async function writeSavedPlan(
  { source, state, redaction }: Project,
  file: string,
  saved: SavedPlan,
  given?: string,
): Promise<void> {
  await writeOutput(source, file, "plan", given ?? encodeSavedPlan(saved, redaction, await sealOf(state)));
}

/**
 * Reads a saved plan. If a key is set, rejects a plan without a proof, because anybody could have written it.
 * @throws HostformError `plan.saved` for a foreign or damaged file, or a newer version; `state.key`.
 */
export async function readSavedPlan({ source, state }: Project, file: string): Promise<SavedPlan> {
  const bytes = await planBytes(source, file);
  const proved = await provedPlan(bytes.toString("utf8"), file, state.encryption());
  return { ...proved, digest: hash("sha256", bytes) };
}

/** Returns the bytes of a plan file. @throws HostformError `plan.saved` for an unreadable or too large file. */
export async function planBytes({ cwd }: ProjectSource, file: string): Promise<Buffer> {
  const unreadable = ifErrno((reason) => raise("plan.saved/unreadable", { file, reason }));
  const bytes = await read(path.resolve(cwd, file), { limit: MOST_BYTES + 1, streams: true }).catch(unreadable);
  if (bytes.length > MOST_BYTES) raise("plan.saved/file", { file, what: FOREIGN, detail: "It is too large for one." });
  return bytes;
}

/**
 * Returns the plan in a file after checking its proof with the key.
 * @throws HostformError `plan.saved`; `state.key` for a missing or wrong key.
 */
export async function provedPlan(text: string, file: string, encryption: Encryption): Promise<SavedPlan> {
  const { proof, ...saved } = decodeSavedPlan(text, file);
  const { key } = encryption;
  if (proof === undefined) {
    if (key === undefined) return saved;
    return raise("plan.saved/file", {
      file,
      what: "is not signed with the key of the state",
      detail: `${key.variable} is set: anyone could have written a plan without a signature.`,
    });
  }
  const seal = await encryption.from(proof.key);
  const detail = "Its content does not match the signature with the key of the state.";
  const edited = () => raise("plan.saved/file", { file, what: "was edited", detail });
  attempt(() => seal.open(proof.text, boundTo(proof.checksum)), ifExplained(edited));
  return { ...saved, isProved: true };
}

/** Binds a proof to plans, so that it is invalid for a state or a journal. */
const boundTo = (stated: string) => `${PLAN_FORM}\n${stated}`;

/**
 * Returns the text of the file. Sensitive values are null, and other known secrets are replaced.
 * @param seal Adds the proof.
 */
export function encodeSavedPlan({ request, origin, plan }: SavedPlan, redaction: Redaction, seal?: Seal): string {
  const { targets, reorder, replace = [], orderAnyway = [], mode, guards = {} } = request;
  // Omit other options of the command.
  const inForce: GuardFlags = Object.fromEntries(GUARD_FLAGS.map((name) => [name, guards[name]]));
  const asked: Required<PlanRequest> = { mode, targets, reorder, replace, orderAnyway, guards: inForce };
  const body = redaction.redactValue({ request: asked, origin, plan: withoutSecrets(plan) }) as object;
  const stated = checksum(body);
  const proof = seal && { key: seal.header, proof: seal.seal("", boundTo(stated)) };
  const version = seal === undefined ? VERSION : PROVED_VERSION;
  return leavingJson({ form: PLAN_FORM, version, checksum: stated, ...proof, ...body }, redaction, 2);
}

/** Proof of a plan's checksum with the key of the state. Not checked yet. */
type Proof = { readonly key: JsonObject; readonly text: string; readonly checksum: string };

/** Decodes the text of a saved plan. @throws HostformError `plan.saved`. */
export function decodeSavedPlan(text: string, file: string): SavedPlan & { readonly proof?: Proof } {
  const json = parsedJson(text, parseExact);
  if (json === undefined && beginsAsPlan(text)) {
    const detail = "Its end is missing, or it is not JSON.";
    return raise("plan.saved/file", { file, what: "is damaged: it was cut off, or edited", detail });
  }
  if (!isObject(json) || json.form !== PLAN_FORM) {
    const detail = "The JSON and the other formats of a plan are for reading; only a saved plan can be applied.";
    return raise("plan.saved/file", { file, what: FOREIGN, detail });
  }
  const { form: _, version, checksum: stated, ...rest } = json;
  if (version !== VERSION && version !== PROVED_VERSION) {
    const what = `is of version ${jsonText(version)}, which this hostform does not know`;
    return raise("plan.saved/file", { file, what, detail: `It knows ${VERSION} and ${PROVED_VERSION}.` });
  }
  const { key, proof, ...others } = rest;
  const body = version === PROVED_VERSION ? others : rest;
  const isProved = version === PROVED_VERSION && isObject(key) && typeof proof === "string";
  if (!isWhole(body, stated) || isProved !== (version === PROVED_VERSION)) {
    const detail = "Its content does not match its checksum. To change a plan, make a new one.";
    return raise("plan.saved/file", { file, what: "is damaged, or was edited", detail });
  }
  // A text that exceeds the stack is not from hostform.
  const isAmbiguous = attempt(
    () => repeatsKeys(text, json),
    () => true,
  );
  if (isAmbiguous) {
    const detail = "An object has the same key twice, so other programs may read other values.";
    return raise("plan.saved/file", { file, what: "was edited", detail });
  }
  const { plan, ...saved } = body as unknown as SavedPlan;
  // No file can replace the words of a kind.
  const changes = plan.changes.map((change) => ({ ...change, words: wordsOfType(change.type) }));
  return {
    ...saved,
    plan: { ...plan, changes },
    ...(isProved && { proof: { key: key as JsonObject, text: proof, checksum: stated } }),
  };
}

/** Returns the words of a kind. For an unknown kind: its type. */
export function wordsOfType(type: string): KindWords {
  const kind = kinds.get(type);
  return kind === undefined ? { noun: type, plural: type, name: "id" } : wordsOf(kind);
}

/** Returns the addresses that a plan changes or moves. Empty if the plan changes nothing in the account. */
export function changedAddresses({ changes }: Plan): string[] {
  if (changes.every(isNoOp)) return [];
  const changed = changes.flatMap((change) => {
    const { address, previousAddress } = change;
    if (previousAddress !== undefined) return [address, previousAddress];
    return isNoOp(change) ? [] : [address];
  });
  return [...new Set(changed)];
}

/** Returns true if format and checksum of a body are correct. */
function isWhole(body: object, stated: unknown): stated is string {
  try {
    return stated === checksum(body) && shape.safeParse(body).success;
  } catch (error) {
    // hostform never writes such a deep document.
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** Returns the checksum of the content. White space does not matter, because a tool may reformat JSON. */
const checksum = (body: object) => hash("sha256", JSON.stringify(body));

/** Replaces sensitive values with null. The apply reads the required values again. */
function withoutSecrets(plan: Plan): Plan {
  const sensitive = new Map(plan.changes.map((change) => [change.address, change.sensitive]));
  return {
    ...plan,
    changes: plan.changes.map(stripped),
    ...(plan.outputs && {
      outputs: plan.outputs.map((output) => (output.sensitive ? { ...output, before: null, after: null } : output)),
    }),
    drift: plan.drift.map((drift) => {
      // If the address has no change, all attributes count as sensitive.
      const names = sensitive.get(drift.address) ?? Object.keys({ ...drift.before, ...drift.after });
      return { ...drift, before: strip(drift.before, names), after: strip(drift.after, names) };
    }) as unknown as Plan["drift"],
  };
}

/** Removes secrets from a change. Of the private part, only the generation stays; everything else is in the state. */
function stripped(change: Change): Change {
  const { sensitive, before, after, config, private: mark } = change;
  return {
    ...change,
    before: strip(before, sensitive),
    after: strip(after, sensitive),
    config: strip(config, sensitive, true),
    private: { ...(mark.generation !== undefined && { generation: mark.generation }) },
  };
}

function strip(values: JsonObject | null, names: readonly string[], mark: true | null = null): JsonObject | null {
  if (values === null) return null;
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, names.includes(name) && value !== null ? mark : value]),
  );
}

const anchorShape = z.strictObject({ type: z.string(), id: z.string(), created_at: z.string().nullable() });
const accountShape = z.strictObject({ origin: z.string(), anchors: z.array(anchorShape) });
const values = z.record(z.string(), z.json()).nullable();
const addresses = z.array(z.string());

/** Schema of the parts that an apply uses. A correct checksum does not prove who wrote the file. */
const shape = z.looseObject({
  request: z.strictObject({
    mode: z.enum(["apply", "destroy"]),
    targets: addresses,
    reorder: addresses,
    replace: addresses,
    orderAnyway: addresses,
    guards: guardForm,
  }),
  origin: z.strictObject({
    lineage: z.string(),
    serial: z.int(),
    state: z.string(),
    project: z.string(),
    declaration: z.array(z.strictObject({ file: z.string(), digest: z.string() })),
    accounts: z.record(z.string(), z.string().nullable()),
    identities: z.record(z.string(), accountShape),
    commit: z.string().optional(),
    environment: z.string().optional(),
    sequence: z.record(z.string(), z.int()).optional(),
    scales: z.record(z.string(), z.int().min(0).max(4)).optional(),
  }),
  plan: z.looseObject({
    timestamp: z.string(),
    diagnostics: z.array(z.looseObject({})),
    changes: z.array(
      z.looseObject({
        address: z.string(),
        type: z.string(),
        provider: z.string(),
        actions: z.array(z.string()).min(1),
        before: values,
        after: values,
        config: values,
        sensitive: addresses,
        reasons: z.array(z.looseObject({ attribute: z.string().optional() })),
        private: z.looseObject({}),
        importing: z.looseObject({ id: z.string() }).optional(),
        removal: z.string().optional(),
        quote: z.looseObject({}).optional(),
      }),
    ),
  }),
});
