import { createHash } from "node:crypto";
import path from "node:path";
import * as z from "zod";
import { beside, read, replaceFile, systemDisk } from "../core/files/index.ts";
import { kinds, wordsOf } from "../core/kinds/index.ts";
import {
  attempt,
  type Change,
  type Diagnostic,
  fail,
  ifErrno,
  ifExplained,
  isNoOp,
  isObject,
  type JsonObject,
  type KindWords,
  type Plan,
  parsedJson,
  parseExact,
} from "../core/model/index.ts";
import type { Encryption, Seal } from "../core/record/index.ts";
import { jsonText } from "../report/index.ts";
import { GUARD_FLAGS, type GuardFlags } from "./guards.ts";
import { beginsAsPlan, FORM, orUnwritable, placeForPlan } from "./plan-file.ts";
import type { Origin } from "./plan-origin.ts";
import type { Project } from "./project.ts";
import { leavingJson, type Redaction } from "./redaction.ts";

/** What a plan is asked for with. A saved one is carried out with the same. */
export interface PlanRequest {
  readonly mode: "apply" | "destroy";
  readonly targets: readonly string[];
  readonly reorder: readonly string[];
  /** Addresses of webhooks and grants to replace on purpose. */
  readonly replace?: readonly string[];
  /** Addresses of services to order although something like them exists. */
  readonly orderAnyway?: readonly string[];
  /** What the command line says in place of the declared guards. */
  readonly guards?: GuardFlags;
}

/** A plan that was written to a file to be applied later, once. Nothing in it is secret. */
export interface SavedPlan {
  readonly request: PlanRequest;
  readonly origin: Origin;
  /** As it was shown; sensitive values are null. */
  readonly plan: Plan;
}

/** The version of the file's form; of one that is proved with the key of the state. */
const VERSION = 1;
const PROVED_VERSION = 2;
/** A plan of 20,000 resources takes about 40 MB. */
const MOST_BYTES = 256 * 1024 * 1024;

const NEW_PLAN = "Make a new one: `hostform plan --out FILE`.";

/** Writes a plan to a file that only its owner can read. The file is whole or not there. @throws HostformError as `placeForPlan` does. */
export async function writeSavedPlan(
  { source, state, redaction }: Pick<Project, "source" | "state" | "redaction">,
  file: string,
  saved: SavedPlan,
): Promise<void> {
  // Once more: reading the account takes its time, and something else may stand there by now.
  const target = await placeForPlan(source, file);
  const encryption = state.encryption();
  const seal = encryption.key && (await encryption.recent());
  const text = encodeSavedPlan(saved, redaction, seal);
  const place = { path: target, temporary: beside(target) };
  await orUnwritable(file, () => replaceFile(systemDisk, place, text));
}

/**
 * Reads a saved plan. With a key, one that is not proved with it is refused: it could have been written by anyone.
 * @throws HostformError `plan.saved` for what is not one, is damaged, or of a newer version; `state.key`.
 */
export async function readSavedPlan(
  { source, state }: Pick<Project, "source" | "state">,
  file: string,
): Promise<SavedPlan> {
  const unreadable = (reason: string) =>
    fail("plan.saved", `The plan ${file} cannot be read: ${reason}`, {
      remedies: [
        "`hostform apply FILE` takes a file that `hostform plan --out FILE` wrote. One resource: `--target ADDRESS`.",
      ],
    });
  const reading = read(path.resolve(source.cwd, file), { limit: MOST_BYTES + 1, streams: true });
  const bytes = await reading.catch(ifErrno(unreadable));
  if (bytes.length > MOST_BYTES) refuse(`${file} is not a plan that hostform saved`, "It is too large for one.");
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
  return provedPlan(text, file, state.encryption());
}

/**
 * The plan of a file, when the key proves it.
 * @throws HostformError `plan.saved`; `state.key` where the key is missing or another.
 */
export async function provedPlan(text: string, file: string, encryption: Encryption): Promise<SavedPlan> {
  const { proof, ...saved } = decodeSavedPlan(text, file);
  const { key } = encryption;
  if (proof === undefined) {
    if (key === undefined) return saved;
    const detail = `${key.variable} is set: a plan that was saved without it could have been written by anyone.`;
    refuse(`${file} is not signed with the key of the state`, detail);
  }
  const seal = await encryption.from(proof.key);
  const edited = () =>
    refuse(`${file} was edited`, "Its content does not match the signature made with the key of the state.");
  attempt(() => seal.open(proof.text, boundTo(proof.checksum)), ifExplained(edited));
  return saved;
}

/** A proof of a plan is none of a state or a journal. */
function boundTo(stated: string): string {
  return `hostform plan\n${stated}`;
}

/**
 * The text of the file. Sensitive values are taken out, and whatever else is known to be secret is marked.
 * @param seal proves it, where there is a key.
 */
export function encodeSavedPlan({ request, origin, plan }: SavedPlan, redaction: Redaction, seal?: Seal): string {
  const { targets, reorder, replace = [], orderAnyway = [], mode, guards = {} } = request;
  // The flags in force, and nothing else of the command line.
  const inForce: GuardFlags = Object.fromEntries(GUARD_FLAGS.map((name) => [name, guards[name]]));
  const asked: Required<PlanRequest> = { mode, targets, reorder, replace, orderAnyway, guards: inForce };
  const body = redaction.redactValue({ request: asked, origin, plan: withoutSecrets(plan) }) as object;
  const stated = checksum(body);
  const proof = seal && { key: seal.header, proof: seal.seal("", boundTo(stated)) };
  const version = seal === undefined ? VERSION : PROVED_VERSION;
  return leavingJson({ form: FORM, version, checksum: stated, ...proof, ...body }, redaction, 2);
}

/** Made with the key of the state over the checksum of a plan; whether it is that is not known yet. */
type Proof = { readonly key: JsonObject; readonly text: string; readonly checksum: string };

/** The inverse. @throws HostformError `plan.saved`. */
export function decodeSavedPlan(text: string, file: string): SavedPlan & { readonly proof?: Proof } {
  const json = parsedJson(text, parseExact);
  if (json === undefined && beginsAsPlan(text)) {
    refuse(`${file} is damaged: it was cut off, or edited`, "Its end is missing, or it is not JSON.");
  }
  if (!isObject(json) || json.form !== FORM) {
    const hint = "`plan --json` and `plan --format` are for reading; only `plan --out FILE` can be applied.";
    refuse(`${file} is not a plan that hostform saved`, hint);
  }
  const { form: _, version, checksum: stated, ...rest } = json;
  if (version !== VERSION && version !== PROVED_VERSION) {
    const known = `It knows ${VERSION} and ${PROVED_VERSION}.`;
    refuse(`${file} is of version ${jsonText(version)}, which this hostform does not know`, known);
  }
  const { key, proof, ...others } = rest;
  const body = version === PROVED_VERSION ? others : rest;
  const isProved = version === PROVED_VERSION && isObject(key) && typeof proof === "string";
  if (!isWhole(body, stated) || isProved !== (version === PROVED_VERSION)) {
    const detail = "Its content does not match its checksum. To change a plan, make a new one.";
    refuse(`${file} is damaged, or was edited`, detail);
  }
  const saved = upgraded(body as unknown as SavedPlan);
  return isProved ? { ...saved, proof: { key: key as JsonObject, text: proof, checksum: stated } } : saved;
}

/** Words of the kind of a type. A kind that this version does not know is described by its type. */
export function wordsOfType(type: string): KindWords {
  const kind = kinds.get(type);
  return kind === undefined ? { noun: type, plural: type, name: "id" } : wordsOf(kind);
}

/** Adds what earlier versions saved otherwise: remedies as one sentence, `fix`, and changes without words. */
function upgraded(saved: SavedPlan): SavedPlan {
  const diagnostics = saved.plan.diagnostics.map((one: Diagnostic & { readonly fix?: string }): Diagnostic => {
    const { fix, ...diagnostic } = one;
    return fix === undefined ? diagnostic : { ...diagnostic, remedies: [fix] };
  });
  const changes = saved.plan.changes.map((change) => ({ ...change, words: wordsOfType(change.type) }));
  return { ...saved, plan: { ...saved.plan, diagnostics, changes } };
}

/** The addresses that a plan changes, with those whose records it moves; none of a plan that changes nothing in the account. */
export function changedAddresses({ changes }: Plan): string[] {
  if (changes.every(isNoOp)) return [];
  return [
    ...new Set(
      changes.flatMap((change) => {
        const { address, previousAddress } = change;
        if (previousAddress !== undefined) return [address, previousAddress];
        return isNoOp(change) ? [] : [address];
      }),
    ),
  ];
}

/** Whether a body has the form and the checksum that the file states. */
function isWhole(body: object, stated: unknown): stated is string {
  try {
    return stated === checksum(body) && shape.safeParse(body).success;
  } catch (error) {
    // Nested more deeply than anything that hostform writes.
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function refuse(summary: string, detail: string): never {
  fail("plan.saved", summary, { detail, remedies: [NEW_PLAN] });
}

/** Independent of how the file is laid out: a tool that formats JSON does no harm. */
function checksum(body: object): string {
  return createHash("sha256").update(JSON.stringify(body)).digest("hex");
}

/** The same plan with null for each sensitive value. What is needed of them is found again when it is applied. */
function withoutSecrets(plan: Plan): Plan {
  const sensitive = new Map(plan.changes.map((change) => [change.address, change.sensitive]));
  return {
    ...plan,
    changes: plan.changes.map(stripped),
    ...(plan.outputs && {
      outputs: plan.outputs.map((output) => (output.sensitive ? { ...output, before: null, after: null } : output)),
    }),
    drift: plan.drift.map((drift) => {
      // Without the change nothing shows which attributes are secret: then all of them are treated as if they were.
      const names = sensitive.get(drift.address) ?? Object.keys({ ...drift.before, ...drift.after });
      return { ...drift, before: strip(drift.before, names), after: strip(drift.after, names) };
    }) as unknown as Plan["drift"],
  };
}

/** Of the mark only the generation: the rest holds requests and attributes, and the state has it. */
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

/** As much of the form as is worked with. A file with a right checksum is ours, but who made it is not known. */
const shape = z.looseObject({
  request: z.strictObject({
    mode: z.enum(["apply", "destroy"]),
    targets: addresses,
    reorder: addresses,
    replace: addresses.optional(),
    orderAnyway: addresses,
    guards: z.strictObject({
      maxOrders: z.int().nonnegative().optional(),
      maxSpend: z.record(z.string(), z.int().nonnegative()).optional(),
      maxRemovals: z.int().nonnegative().optional(),
      allowRemovals: z.boolean().optional(),
      allowUnknownPrices: z.boolean().optional(),
      allowMissing: z.boolean().optional(),
      accountMoved: z.boolean().optional(),
    }),
  }),
  origin: z.strictObject({
    lineage: z.string(),
    serial: z.int(),
    state: z.string(),
    project: z.string(),
    declaration: z.array(z.strictObject({ file: z.string(), digest: z.string() })),
    accounts: z.record(z.string(), z.string().nullable()),
    identities: z.record(z.string(), accountShape).optional(),
  }),
  plan: z.looseObject({
    timestamp: z.string(),
    diagnostics: z.array(z.looseObject({ fix: z.string().optional() })),
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
