import type { Json, JsonObject } from "./value.ts";

/**
 * Fix for a diagnostic: an action, which each front end shows in its own language, or a sentence for all front ends. Sentences
 * of core contain no command, flag or snippet.
 */
export type Remedy = string | RemedyAction;

/** Renders the remedies of a diagnostic as one text. Undefined if none is known. */
export type RemedyText = (diagnostic: Remediable) => string | undefined;

/** Parts of a diagnostic that its remedies need. */
export interface Remediable {
  readonly remedies?: readonly Remedy[];
  readonly address?: string;
}

/** A limit of a run, and the value that it would need. Amounts are in the API's own unit. Null if no value is known. */
export type Allowance =
  | { readonly limit: "orders"; readonly amount: number | null }
  | { readonly limit: "spend"; readonly currency: string; readonly amount: number | null }
  | { readonly limit: "unknown_prices" | "removals" | "missing" | "account_moved" | "insecure_http" | "older_state" };

/** Topic of advice about using the program: its options, files and steps. */
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
  | "join_project"
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

/**
 * Action about the diagnostic's resource, unless it names another address. `when` is its condition, for example "it was
 * renamed".
 */
export type RemedyAction = ActionOf & { readonly when?: string };

type ActionOf =
  /**
   * Adopt an existing object. `id`: known id, as `import` takes it. `forgetFirst`: the state has an object at this address that
   * no longer exists.
   */
  | { readonly do: "import"; readonly id?: string; readonly forgetFirst?: true }
  /** Import all declared objects of these accounts after the state was lost. */
  | { readonly do: "recover"; readonly providers: readonly string[] }
  /** Restore the last copy of the state. */
  | { readonly do: "restore_state"; readonly backup: string }
  /**
   * Move the state entry at `from` to this address. `from` is undefined if the front end does not know it. `occupied`: this
   * address has an entry. `removed`: a `removed` block names `from`.
   */
  | { readonly do: "move"; readonly from?: string; readonly occupied?: true; readonly removed?: true }
  /** Stop managing the object; it stays in the account. */
  | {
      readonly do: "forget";
      readonly address?: string;
      readonly why?: "import" | "restore" | "replace";
      /** Id of the correct object, for `import`. */
      readonly id?: string;
    }
  /** Order a deleted service again. `replayed`: the API returns the earlier object for the same order. */
  | { readonly do: "reorder"; readonly replayed?: true }
  /** Replace a live object, because its creation returns a new secret. */
  | { readonly do: "renew" }
  /** Order another object although a similar one exists. */
  | { readonly do: "order_anyway" }
  /**
   * Settle a pending creation. `object`: possible result. `removing`: the run removes the resource, and no decision
   * of the user is required yet. `sent`: body of the request, which may contain secrets of the user.
   */
  | {
      readonly do: "resolve";
      /** `forced`: accept `object` although it differs from the request. */
      readonly as?: "absent" | "forced";
      readonly object?: string;
      readonly removing?: boolean;
      readonly sent?: JsonObject;
    }
  /**
   * Restore the old value (undefined if secret), or declare the new value as another resource. `paid`: the other resource is an
   * order. `once`: the object cannot be ordered again, so only the old value is possible.
   */
  | { readonly do: "redeclare"; readonly attribute: string; readonly value?: Json; readonly paid: boolean | "once" }
  /** Declare the object's value (undefined if secret). */
  | { readonly do: "follow"; readonly attribute: string; readonly value?: Json }
  /** Declare the value of the adopted object (undefined if secret), or adopt another object. */
  | { readonly do: "correct_import"; readonly attribute: string; readonly value?: Json }
  /** Declare an attribute. `example`: the value is a placeholder for the user's own. */
  | { readonly do: "set"; readonly attribute: string; readonly value?: Json; readonly example?: true }
  /** Restore the provider from the state. */
  | { readonly do: "use_provider"; readonly provider: string }
  /** Declare a name for the project. */
  | { readonly do: "name_project" }
  /** Declare a deletion policy that permits the removal, then remove the block or destroy. */
  | { readonly do: "release"; readonly policies: readonly string[]; readonly to: "remove" | "destroy" }
  /** Declare the meaning of a status word: the first phase if `when` is true, or one of several visible to the user. */
  | { readonly do: "map_status"; readonly provider: string; readonly word: Json; readonly phases: readonly string[] }
  /** Override limits for one run. */
  | { readonly do: "allow"; readonly limits: readonly Allowance[] }
  | { readonly do: "apply_again" }
  /** Show information. */
  | {
      readonly do: "see";
      readonly what: "plans" | "services" | "addresses" | "recorded" | "pending" | "requests" | "sandbox" | "swap";
    }
  /** Use the program differently. `name`, `other`: values for the advice. */
  | { readonly do: "advise"; readonly on: Advice; readonly name?: string; readonly other?: string }
  /** Resume or end a paused process of this machine. 0 if the process is unknown. */
  | { readonly do: "wake"; readonly pid: number }
  /** Wait until the holder of the state lock finishes. */
  | { readonly do: "wait_for_lock" }
  /** Release a state lock that nobody uses. `id`: id of the lock. */
  | { readonly do: "unlock"; readonly id?: string }
  | { readonly do: "encrypt_state" }
  /** Choose another file as the state. */
  | { readonly do: "name_state" }
  /** Report the format of the API's objects. */
  | { readonly do: "report_shape" };

/** Returns a function that renders remedies in order with the front end's function. The front end may return undefined. */
export function rendererOf(
  render: (action: RemedyAction, address: string | undefined) => string | undefined,
): RemedyText {
  return ({ remedies = [], address }) => {
    const texts = remedies.map((one) => (typeof one === "string" ? one : render(one, address)));
    const text = texts.filter((one) => one !== undefined && one !== "").join(" ");
    return text === "" ? undefined : text;
  };
}

/** Returns a sentence after its condition: `If it was renamed: …`. Without a condition, returns the sentence unchanged. */
export function underCondition(when: string | undefined, sentence: string): string {
  return when === undefined ? sentence : `If ${when}: ${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`;
}

/**
 * Returns commands that end the wait for a process. A paused process ignores SIGTERM.
 * @param pid Process of this machine, or 0. @param elsewhere Sentence if the process id is unknown.
 */
export const wakeOrEnd = (pid: number, elsewhere = "End the process that hangs."): string =>
  Number.isSafeInteger(pid) && pid > 0
    ? `If process ${pid} is paused (Ctrl-Z), resume it with \`kill -CONT ${pid}\`. If it hangs, end it with \`kill -KILL ${pid}\`.`
    : elsewhere;
