import type { Json, JsonObject } from "./value.ts";

/**
 * What can be done about a diagnostic: an action, which each front renders in its own language, or a sentence that holds in
 * all of them. A sentence of the core names no command, no flag, and no snippet of a declaration.
 */
export type Remedy = string | RemedyAction;

/** Renders the remedies of a diagnostic as one text; undefined: none is known. */
export type RemedyText = (diagnostic: Remediable) => string | undefined;

/** The parts of a diagnostic that its remedies need: the remedies, and the resource. */
export interface Remediable {
  readonly remedies?: readonly Remedy[];
  readonly address?: string;
}

/** A limit of a run, and what it would have to be: amounts are in the API's own unit, null where none can be said. */
export type Allowance =
  | { readonly limit: "orders"; readonly amount: number | null }
  | { readonly limit: "spend"; readonly currency: string; readonly amount: number | null }
  | { readonly limit: "unknown_prices" | "removals" | "missing" | "account_moved" | "insecure_http" | "older_state" };

/** A subject of advice about the use of the program: its options, its files and its steps. */
export type Advice =
  | "new_plan"
  | "plan_file"
  | "name_plan"
  | "name_report"
  | "name_file"
  | "choose_environment"
  | "one_state"
  | "copy_state"
  | "push_state"
  | "push_kept"
  | "decrypt_state"
  | "trust_author"
  | "stack_output"
  | "stack_app"
  | "stack_folder"
  | "synthesize"
  | "synthesize_elsewhere"
  | "name_stack"
  | "apply_first"
  | "own_arguments"
  | "give_variable"
  | "stray_variable"
  | "adopt_folder"
  | "clients_file"
  | "export";

/** An action is about the resource of its diagnostic unless it names another address. `when` is its condition: "it was renamed". */
export type RemedyAction = ActionOf & { readonly when?: string };

type ActionOf =
  /** Adopt an existing object. `id`: the one that is known, as `import` takes it. `forgetFirst`: the state has a gone one there. */
  | { readonly do: "import"; readonly id?: string; readonly forgetFirst?: true }
  /** Record all declared objects of these accounts again, after the state was lost. */
  | { readonly do: "recover"; readonly providers: readonly string[] }
  /** Put the last copy of the state back. */
  | { readonly do: "restore_state"; readonly backup: string }
  /**
   * Give what is recorded at `from` this address. Absent: the front does not know that address. `occupied`: this one has a
   * record. `removed`: a removed block names `from`.
   */
  | { readonly do: "move"; readonly from?: string; readonly occupied?: true; readonly removed?: true }
  /** Stop managing it; it stays in the account. */
  | {
      readonly do: "forget";
      readonly address?: string;
      readonly why?: "import" | "restore" | "replace";
      /** Id of the right object, with `import`. */
      readonly id?: string;
    }
  /** Order again what is gone. `replayed`: the API answers the same order with the earlier one. */
  | { readonly do: "reorder"; readonly replayed?: true }
  /** Replace a live object on purpose: its create shows a new secret. */
  | { readonly do: "renew" }
  /** Order another one beside what may be the same. */
  | { readonly do: "order_anyway" }
  /**
   * Settle a create whose result is unknown. `object`: what it may have made. `removing`: it was to be removed.
   * `sent`: the body of the request; it may hold what the user keeps secret.
   */
  | {
      readonly do: "resolve";
      /** `forced`: it is `object`, although that is not as it was requested. */
      readonly as?: "absent" | "forced";
      readonly object?: string;
      readonly removing?: boolean;
      readonly sent?: JsonObject;
    }
  /**
   * Put the old value back (absent: a secret), or declare the new one as another resource. `paid`: that is an order; `once`: the
   * object cannot be ordered again, so that only the old value is left.
   */
  | { readonly do: "redeclare"; readonly attribute: string; readonly value?: Json; readonly paid: boolean | "once" }
  /** Declare the value that the object has (absent: a secret). */
  | { readonly do: "follow"; readonly attribute: string; readonly value?: Json }
  /** Declare what the adopted object has (absent: a secret), or adopt another one. */
  | { readonly do: "correct_import"; readonly attribute: string; readonly value?: Json }
  /** Declare an attribute. `example`: the value stands for the user's own. */
  | { readonly do: "set"; readonly attribute: string; readonly value?: Json; readonly example?: true }
  /** Put the provider back that the resource is recorded with. */
  | { readonly do: "use_provider"; readonly provider: string }
  /** Give the project a name. */
  | { readonly do: "name_project" }
  /** Declare a deletion policy that lets go of it, then remove the block, or destroy. */
  | { readonly do: "release"; readonly policies: readonly string[]; readonly to: "remove" | "destroy" }
  /** Say what a status word means: the first phase if `when`, or one of several that the user can see. */
  | { readonly do: "map_status"; readonly provider: string; readonly word: Json; readonly phases: readonly string[] }
  /** Lift limits for one run. */
  | { readonly do: "allow"; readonly limits: readonly Allowance[] }
  | { readonly do: "apply_again" }
  /** Look at what there is. */
  | {
      readonly do: "see";
      readonly what: "plans" | "services" | "addresses" | "recorded" | "pending" | "requests" | "sandbox" | "swap";
    }
  /** Use the program in another way. `name`, `other`: words of the advice. */
  | { readonly do: "advise"; readonly on: Advice; readonly name?: string; readonly other?: string }
  /** Let a stopped process of this machine go on, or end it. 0: the process is unknown. */
  | { readonly do: "wake"; readonly pid: number }
  /** Let the holder of the state lock finish. */
  | { readonly do: "wait_for_lock" }
  /** Free the lock of the state that nobody uses. `id`: the lock's own. */
  | { readonly do: "unlock"; readonly id?: string }
  | { readonly do: "encrypt_state" }
  /** Name another file as the state. */
  | { readonly do: "name_state" }
  /** Report how the API shows its objects. */
  | { readonly do: "report_shape" };

/** Renders remedies in order, each by the front's function; a front may have nothing to say of one. */
export function rendererOf(
  render: (action: RemedyAction, address: string | undefined) => string | undefined,
): RemedyText {
  return ({ remedies = [], address }) => {
    const texts = remedies.map((one) => (typeof one === "string" ? one : render(one, address)));
    const text = texts.filter((one) => one !== undefined && one !== "").join(" ");
    return text === "" ? undefined : text;
  };
}

/** A sentence behind its condition: `If it was renamed: …`; without one it begins with a capital letter. */
export function underCondition(when: string | undefined, sentence: string): string {
  return when === undefined ? sentence : `If ${when}: ${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`;
}

/**
 * Ways to end the wait for a process. A stopped process takes no SIGTERM.
 * @param pid of a process of this machine, or 0. @param elsewhere the sentence for a process without a number here.
 */
export const wakeOrEnd = (pid: number, elsewhere = "End the process that hangs."): string =>
  Number.isSafeInteger(pid) && pid > 0
    ? `If process ${pid} is paused (Ctrl-Z), resume it with \`kill -CONT ${pid}\`. If it hangs, end it with \`kill -KILL ${pid}\`.`
    : elsewhere;
