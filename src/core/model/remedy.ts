import type { Json, JsonObject } from "./value.ts";

/**
 * Fix for a diagnostic: an action that each front end renders in its own language, or a sentence for all front ends.
 * Sentences of core contain no command, flag or snippet.
 */
export type Remedy = string | RemedyAction;

/** Renders the remedies of a diagnostic as one text. Undefined if none is known. */
export type RemedyText = (diagnostic: Remediable) => string | undefined;

/** Parts of a diagnostic that its remedies need. */
export interface Remediable {
  readonly remedies?: readonly Remedy[];
  readonly address?: string;
}

/** A limit of a run with the value that would be sufficient. Amounts are in the API's own unit. Null if unknown. */
export type Allowance =
  | { readonly limit: "orders"; readonly amount: number | null }
  | { readonly limit: "spend"; readonly currency: string; readonly amount: number | null }
  | { readonly limit: "unknown_prices" | "removals" | "missing" | "account_moved" | "insecure_http" | "older_state" };

/** Topics of advice about options, files and steps. */
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
 * Action on the diagnostic's resource, or on another address. `when`: condition of the action, for example "it was renamed".
 */
export type RemedyAction = ActionOf & { readonly when?: string };

type ActionOf =
  /**
   * Adopt an existing object. `id`: its import id, if known. `forgetFirst`: the state has an object at this address that no
   * longer exists.
   */
  | { readonly do: "import"; readonly id?: string; readonly forgetFirst?: true }
  /** Import all declared objects of these accounts, because the state was lost. */
  | { readonly do: "recover"; readonly providers: readonly string[] }
  /** Restore the last copy of the state. */
  | { readonly do: "restore_state"; readonly backup: string }
  /**
   * Move the state entry at `from` to this address. `from`: undefined if unknown. `occupied`: this address already has an
   * entry. `removed`: a `removed` block contains `from`.
   */
  | { readonly do: "move"; readonly from?: string; readonly occupied?: true; readonly removed?: true }
  /** Stop managing the object. It stays in the account. */
  | {
      readonly do: "forget";
      readonly address?: string;
      readonly why?: "import" | "restore" | "replace";
      /** Id of the correct object, for `import`. */
      readonly id?: string;
    }
  /** Order a deleted service again. `replayed`: the API returns the deleted service for the same order. */
  | { readonly do: "reorder"; readonly replayed?: true }
  /** Replace a live object to get a new one-time secret. */
  | { readonly do: "renew" }
  /** Order the object although a similar one exists. */
  | { readonly do: "order_anyway" }
  /**
   * Settle a pending creation. `object`: possible result. `removing`: the run removes the resource, so the user need not
   * decide yet. `sent`: body of the request, possibly with secrets.
   */
  | {
      readonly do: "resolve";
      /** `absent`: nothing was created. `forced`: accept `object` although it differs from the request. */
      readonly as?: "absent" | "forced";
      readonly object?: string;
      readonly removing?: boolean;
      readonly sent?: JsonObject;
    }
  /**
   * Restore the old value (undefined if secret), or declare the new value for another resource. `paid`: the other resource is
   * an order. `once`: the object cannot be ordered again, so only the old value is possible.
   */
  | { readonly do: "redeclare"; readonly attribute: string; readonly value?: Json; readonly paid: boolean | "once" }
  /** Declare the live value (undefined if secret). */
  | { readonly do: "follow"; readonly attribute: string; readonly value?: Json }
  /** Declare the value of the adopted object (undefined if secret), or adopt another object. */
  | { readonly do: "correct_import"; readonly attribute: string; readonly value?: Json }
  /** Declare an attribute. `example`: the value is only an example. */
  | { readonly do: "set"; readonly attribute: string; readonly value?: Json; readonly example?: true }
  /** Restore the provider from the state. */
  | { readonly do: "use_provider"; readonly provider: string }
  /** Declare a name for the project. */
  | { readonly do: "name_project" }
  /** Declare a deletion policy that permits the removal. Then remove the block or destroy. */
  | { readonly do: "release"; readonly policies: readonly string[]; readonly to: "remove" | "destroy" }
  /** Declare the phase of a status word. If `when` is set: the first phase. Otherwise the user chooses a phase. */
  | { readonly do: "map_status"; readonly provider: string; readonly word: Json; readonly phases: readonly string[] }
  /** Override limits for one run. */
  | { readonly do: "allow"; readonly limits: readonly Allowance[] }
  | { readonly do: "apply_again" }
  /** Show information. */
  | {
      readonly do: "see";
      readonly what: "plans" | "services" | "addresses" | "recorded" | "pending" | "requests" | "sandbox" | "swap";
    }
  /** Advice about options, files and steps. `name`, `other`: values for the text. */
  | { readonly do: "advise"; readonly on: Advice; readonly name?: string; readonly other?: string }
  /** Resume or end a paused process on this machine. `pid` 0: the process is unknown. */
  | { readonly do: "wake"; readonly pid: number }
  /** Wait until the process with the state lock finishes. */
  | { readonly do: "wait_for_lock" }
  /** Remove a state lock that no process uses. `id`: id of the lock. */
  | { readonly do: "unlock"; readonly id?: string }
  | { readonly do: "encrypt_state" }
  /** Choose another file for the state. */
  | { readonly do: "name_state" }
  /** Report the format of the API's responses. */
  | { readonly do: "report_shape" };

/** Returns a function that renders all remedies of a diagnostic. @param render Renders one action. May return undefined. */
export function rendererOf(
  render: (action: RemedyAction, address: string | undefined) => string | undefined,
): RemedyText {
  return ({ remedies = [], address }) => {
    const texts = remedies.map((one) => (typeof one === "string" ? one : render(one, address)));
    const text = texts.filter((one) => one !== undefined && one !== "").join(" ");
    // A block ends its paragraph.
    return text === "" ? undefined : text.replaceAll("\n}` ", "\n}`\n\n");
  };
}

/** Adds a condition to a sentence: `If it was renamed: …`. Without a condition, returns the sentence. */
export function underCondition(when: string | undefined, sentence: string): string {
  return when === undefined ? sentence : `If ${when}: ${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`;
}

/**
 * Returns commands that resume or end a process. A paused process ignores SIGTERM.
 * @param pid Process on this machine, or 0.
 * @param elsewhere Sentence if the process is unknown.
 */
export const wakeOrEnd = (pid: number, elsewhere = "End the process that hangs."): string =>
  Number.isSafeInteger(pid) && pid > 0
    ? `If process ${pid} is paused (Ctrl-Z), resume it with \`kill -CONT ${pid}\`. If it hangs, end it with \`kill -KILL ${pid}\`.`
    : elsewhere;
