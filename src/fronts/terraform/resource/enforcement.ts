/** Policy of a Terraform run. Terraform sends one resource in each call, so the process collects the changes of all its calls. */
import path from "node:path";
import { read } from "../../../core/files/index.ts";
import { type Kind, wordsOf } from "../../../core/kinds/kind.ts";
import { policyOf } from "../../../core/lifecycle/index.ts";
import {
  type Change,
  type Clock,
  changeFacts,
  type Diagnostic,
  type EnvVars,
  equal,
  HostformError,
  isError,
  type JsonObject,
  POLICY_RULES,
  type Policy,
  type PolicyRule,
  split,
  type ValueObject,
  verdictsOf,
} from "../../../core/model/index.ts";
import {
  authorOf,
  diagnosticOf,
  isFunctionFile,
  policyFiles,
  readPolicies,
  unsupported,
} from "../../../core/policy/index.ts";
import { labelOf } from "./attribute-mapping.ts";
import type { ProviderScope } from "./provider-scope.ts";

/** One planned or applied change, as a call of Terraform describes it. */
export interface Asked {
  readonly prior: JsonObject | null;
  /** Null: the change destroys the object. */
  readonly planned: ValueObject | null;
  readonly isReplacement: boolean;
  /** True for the change of an action. A resource may change the same object in the same run. */
  readonly isAction?: boolean;
  /** True in a plan. Terraform applies the change later or never. */
  readonly isLater: boolean;
}

/** Rules that the provider cannot enforce, each with the reason. */
const WHOLE: Partial<Readonly<Record<PolicyRule, string>>> = {
  require_state_key: "Terraform keeps the state",
  max_spend_month: "Terraform keeps no history",
  max_orders_day: "Terraform keeps no history",
  no_orders_while: "Terraform shows one object after the other",
};

export class Enforcement {
  readonly #policies: readonly Policy[];
  readonly #author: string | null;
  readonly #clock: Clock;
  /** Labels of changes, by natural key. */
  readonly #changes = new Map<string, { readonly change: Change; readonly label: string }>();
  #count = 0;

  private constructor(policies: readonly Policy[], author: string | null, clock: Clock) {
    this.#policies = policies;
    this.#author = author;
    this.#clock = clock;
  }

  /**
   * Reads the files of HOSTFORM_POLICY. @returns undefined if the variable names no file.
   * @throws HostformError `policy.invalid`; `policy.unsupported` for rules that the provider cannot enforce.
   */
  static async open(env: EnvVars, folder: string, clock: Clock): Promise<Enforcement | undefined> {
    const files = policyFiles(env);
    if (files.length === 0) return undefined;
    const functions = files.filter(isFunctionFile);
    const rules = files.filter((file) => !isFunctionFile(file));
    const policies = await readPolicies(rules, (file, limit) =>
      read(path.resolve(folder, file), { limit, streams: true }),
    );
    const refused = [
      ...functions.map((file) => [`the function ${file}`, "A function judges a whole plan"] as const),
      ...policies.flatMap(partsOf),
    ].map(([what, why]) => unsupported(what, why, "error"));
    if (refused.length > 0) throw new HostformError(refused);
    return new Enforcement(policies, authorOf(env), clock);
  }

  /** Evaluates a change together with all earlier changes of this process. */
  async judge(kind: Kind, asked: Asked, scope: ProviderScope): Promise<Diagnostic[]> {
    const change = await changeOf(kind, asked, scope);
    if (change === undefined) return [];
    const thing = asked.planned === null ? String(asked.prior?.id) : kind.naturalKey(asked.planned);
    // Changes without a natural key always count separately.
    const key = JSON.stringify([kind.type, asked.planned === null, asked.isAction, thing ?? ++this.#count]);
    this.#changes.set(key, { change: { ...change, address: key }, label: change.address });
    const facts = changeFacts({ changes: [...this.#changes.values()].map((one) => one.change) });
    const shown = facts.map((one) => ({ ...one, address: this.#changes.get(one.address)?.label ?? one.address }));
    const { now } = this.#clock;
    const judging = { conditions: [], unseen: 0, author: this.#author, now: now(), hasStateKey: null, known: [] };
    return verdictsOf(this.#policies, { changes: shown, ...judging }, { isLater: asked.isLater })
      .filter(({ address }) => address === undefined || address === change.address)
      .map(({ address: _, ...verdict }) => diagnosticOf(verdict));
  }

  /** Rejects an applied change. @throws HostformError `policy.denied`: no request was sent. */
  async require(kind: Kind, asked: Omit<Asked, "isLater">, scope: ProviderScope): Promise<void> {
    const denied = (await this.judge(kind, { ...asked, isLater: false }, scope)).filter(isError);
    if (denied.length > 0) throw new HostformError(denied);
  }
}

/** Returns the parts of a policy that the provider cannot enforce. */
function partsOf({ file, rules }: Policy): (readonly [what: string, why: string])[] {
  const whole = POLICY_RULES.filter((rule) => rules[rule] !== undefined && WHOLE[rule] !== undefined);
  const scoped = rules.scopes?.some(({ files, clients }) => (files ?? clients) !== undefined);
  const addresses = rules.never_offline?.filter((site) => /(?:^|\.)hosting_|^module\..*\*|\[/.test(site)) ?? [];
  return [
    ...addresses.map(
      (one) =>
        [`the address ${one} in never_offline (${file})`, "Name the domain: Terraform shows no address"] as const,
    ),
    ...whole.map((rule) => [`the rule ${rule} (${file})`, WHOLE[rule] ?? ""] as const),
    ...(scoped ? [[`files or clients in a scope (${file})`, "Terraform shows neither to the provider"] as const] : []),
  ];
}

/** Returns the change for the core. Undefined if the call changes no value. */
async function changeOf(
  kind: Kind,
  { prior, planned, isReplacement }: Asked,
  { account }: ProviderScope,
): Promise<Change | undefined> {
  const values = planned ?? prior ?? {};
  const { known, unknown } = split(values);
  const changed = Object.keys(values).filter((name) => planned !== null && !equal(prior?.[name] ?? null, values[name]));
  if (planned !== null && prior !== null && !isReplacement && changed.length === 0) return undefined;
  const creates = planned !== null && (prior === null || isReplacement);
  const plans = creates && kind.creation === "keyed" ? await account.knownPlans() : [];
  const removal = kind.removal === "delete" ? "delete" : policyOf(values as JsonObject);
  const isRemoved = planned === null && !isReplacement && removal !== "prevent";
  return {
    address: labelOf(kind, values),
    type: kind.type,
    words: wordsOf(kind),
    provider: "default",
    actions: isReplacement
      ? ["delete", "create"]
      : creates
        ? ["create"]
        : planned === null
          ? [removal === "delete" ? "delete" : "forget"]
          : ["update"],
    before: prior,
    after: planned === null ? null : (known as JsonObject),
    after_unknown: unknown,
    sensitive: [],
    config: null,
    reasons: changed.map((attribute) => ({ why: "declared", attribute, text: "" })),
    deferred: [],
    private: {},
    dependsOn: [],
    requests: 1,
    ...(isRemoved && { removal }),
    ...(creates && kind.quote && { quote: kind.quote(values, plans).quote }),
  };
}
