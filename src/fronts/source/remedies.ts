import {
  type Advice,
  type Allowance,
  inQuotes,
  type Json,
  type JsonObject,
  openJson,
  type RemedyAction,
  type RemedyText,
  rendererOf,
  shellPath,
  shellWord,
  underCondition,
  wakeOrEnd,
} from "../../core/model/index.ts";

/** Differences between YAML and stacks. */
export interface Language {
  /** Flags that select the project, with a leading space: ` --stack DIR`. */
  readonly flags: string;
  /** Returns an attribute with its value, in backticks. */
  assign(attribute: string, value: Json): string;
  /** Returns the declaration that adopts an existing object. @param id Import id. */
  adopt(id: string): string;
  /** Sentence about how to recover a lost state. Undefined: `hostform adopt`. */
  readonly recover?: string;
  /** Returns the declaration that renames a resource, in backticks. */
  moved(from: string, to: string): string;
  /**
   * Returns the declaration that removes a resource from the state and keeps its object, in backticks. Undefined if the
   * language cannot do this for the address.
   */
  removed(address: string): string | undefined;
  /** Returns the attribute of a resource that selects a provider, in backticks. */
  provider(alias: string): string;
  /** Returns the setting that maps a status word to a phase, in backticks. */
  statusWord(provider: string, word: string, phase: string): string;
  /** Setting of the project's name. */
  readonly project: string;
  /** Sentence about declared removal limits. Empty if the language has none. */
  readonly lastingLimits: string;
}

/** Renders remedies as commands and as declarations. */
export function commandLineRemedies(language: Language): RemedyText {
  return rendererOf((action, address) => {
    const sentence = sentenceOf(action, action.do === "forget" ? (action.address ?? address) : address, language);
    return underCondition(action.when, sentence);
  });
}

function sentenceOf(action: RemedyAction, subject: string | undefined, language: Language): string {
  const at = subject === undefined ? "ADDRESS" : inQuotes(subject);
  const command = (words: string) => `\`hostform ${words}${language.flags}\``;
  switch (action.do) {
    case "import": {
      const { id = "ID", forgetFirst } = action;
      const adopt = command(`import ${at} ${shellWord(id)}`);
      if (forgetFirst) return `Adopt it: ${command(`state rm ${at}`)}, then ${adopt}.`;
      return action.when === undefined && action.id !== undefined
        ? `Adopt it: ${adopt}, or ${language.adopt(id)}.`
        : `${adopt}.`;
    }
    case "recover": {
      const recover = action.providers.map((alias) =>
        command(`adopt --declared${alias === "default" ? "" : ` --provider ${shellWord(alias)}`}`),
      );
      return `If the state is lost: ${language.recover ?? `${recover.join(" and ")} recovers it from the account, and changes nothing in the account.`}`;
    }
    case "restore_state":
      return `To continue with the last copy: ${command(`state push ${shellWord(action.backup)} --force`)}.`;
    case "move":
      if (action.from === undefined)
        return `Declare ${language.moved("OLD", subject ?? "ADDRESS")}, with the other address as OLD.`;
      if (action.removed)
        return `Remove the \`removed\` entry of ${action.from}. The state entry of ${action.from} then moves to ${subject ?? "ADDRESS"}.`;
      if (action.occupied)
        return `Rename the state entry at this address: ${command(`state mv ${at} ${action.from.slice(0, action.from.indexOf("."))}.NAME`)}. Then move the other entry: ${command(`state mv ${inQuotes(action.from)} ${at}`)}.`;
      return `Declare ${language.moved(action.from, subject ?? "ADDRESS")}.`;
    case "forget": {
      const stateRm = command(`state rm ${at}`);
      const removed = language.removed(subject ?? "ADDRESS");
      const forget = removed === undefined ? stateRm : `replace the block of ${subject ?? "ADDRESS"} by ${removed}`;
      const or = action.when === undefined ? "Or " : "";
      const { id } = action;
      if (action.why === "import")
        return removed === undefined
          ? `${or}${stateRm}, and import the right object.`
          : `${or}${forget}, and declare the object by another name, with ${language.adopt(id ?? "ID")}${id === undefined ? " (the id of the right object)" : ""}.`;
      // No declaration repairs a state entry, and no block has two entries.
      if (action.why === "restore") return `${or}${stateRm}, and import the object again.`;
      if (action.why === "replace") return `${or}${stateRm}.`;
      return `${or}${forget}${action.when === undefined ? " to stop managing it" : ""}.`;
    }
    case "reorder":
      return `To order it again: add \`--reorder ${at}\`${action.replayed ? ", or declare another `reference`" : ""}.`;
    case "renew":
      return `To replace it: ${command(`apply --replace ${at}`)}.`;
    case "order_anyway":
      return `To order a new object: add \`--order-anyway ${at}\`.`;
    case "resolve": {
      if (action.as === "forced")
        return `${command(`resolve ${at} --adopt ${shellWord(action.object ?? "ID")} --force`)}.`;
      if (action.as === "absent") return `${command(`resolve ${at} --absent`)}.${sentText(action.sent)}`;
      return `${command(`resolve ${at}`)} shows the create request and possible objects. Then decide with \`--adopt ID\` or \`--absent\`.`;
    }
    case "redeclare": {
      const is = action.value === undefined ? "the earlier value" : language.assign(action.attribute, action.value);
      if (action.paid === "once") return `Restore ${is}.`;
      const order = action.paid ? " (a new order with its own invoice)" : "";
      return `Restore ${is}. Or declare the new values under a new name${order}, and remove this block; its deletion_policy applies.`;
    }
    case "follow":
      return action.value === undefined
        ? `Declare the ${action.attribute} of the existing object.`
        : `Declare ${language.assign(action.attribute, action.value)}.`;
    case "correct_import":
      return action.value === undefined
        ? `Correct ${action.attribute}, or the import id.`
        : `Declare ${language.assign(action.attribute, action.value)}, or correct the import id.`;
    case "set": {
      const { attribute, value, example } = action;
      if (value === undefined) return `Add \`${attribute}\`.`;
      const set = language.assign(attribute, value);
      return example ? `Add \`${attribute}\`, for example ${set}.` : `Add ${set}.`;
    }
    case "use_provider":
      return `Restore ${language.provider(action.provider)}.`;
    case "name_project":
      return `Set ${language.project} to a name that never changes.`;
    case "release": {
      const [first = "", ...more] = action.policies;
      const or = more.map((policy) => ` (or \`${policy}\`)`).join("");
      const policy = `${language.assign("deletion_policy", first)}${or}`;
      return action.to === "remove"
        ? `To release it, restore its block with ${policy} and apply. Then remove the block.`
        : `To release it, declare ${policy} and apply. Then destroy.`;
    }
    case "map_status":
      return statusSentence(action, language);
    case "allow":
      return allowanceSentence(action.limits, language);
    case "apply_again":
      return "Apply again.";
    case "see":
      return {
        plans: `Use a plan_id from ${command("plans")}.`,
        recorded: `Compare the two entries with ${command("state show")}. Then correct the state with ${command("state rm")} or ${command("state mv")}.`,
        swap: `To swap two services without a domain, use ${command("state mv")} with a third, temporary name.`,
        addresses: `${command("state list")} shows every address.`,
        services: `${command("services")} lists the domains.`,
        pending: `${command("resolve")} lists the pending creates.`,
        sandbox: "To try without an account: `hostform sandbox`.",
        requests: "`--verbose` shows the times of each request.",
      }[action.what];
    case "advise":
      return ADVICE[action.on](command, action.name ?? "", action.other ?? "");
    case "wake":
      return wakeOrEnd(action.pid);
    case "wait_for_lock":
      return "Wait for the lock: add `--lock-timeout 5m`.";
    case "unlock": {
      const unlock = command(action.id === undefined ? "force-unlock" : `force-unlock ${shellWord(action.id)}`);
      return action.when === undefined ? `Release the lock: ${unlock}.` : `${unlock}.`;
    }
    case "encrypt_state": {
      const encrypt = command("state encrypt");
      return action.when === undefined ? `Encrypt the state: ${encrypt}.` : `${encrypt}.`;
    }
    case "name_state":
      return "Name another file with `--state`.";
    case "report_shape":
      return "Report the format of the API's response: `hostform doctor`.";
  }
}

/** @param command returns a command on this project, in backticks. @param name parameter of the advice. @param other its second parameter. */
type Advise = (command: (words: string) => string, name: string, other: string) => string;

const ADVICE: { readonly [on in Advice]: Advise } = {
  new_plan: (command) => `Make a new plan: ${command("plan --out FILE")}.`,
  plan_file: (command) =>
    `${command("plan --out FILE")} writes a plan. For one resource, add \`--target ADDRESS\` to \`plan\` or \`apply\`.`,
  name_plan: (command) => `Name another file: ${command("plan --out acme.plan")}.`,
  name_report: (command) => `Name another file: ${command("plan --report plan.html")}.`,
  name_file: () => "Or pass it on the command line: `-f` for a declaration, `--var-file` for values.",
  choose_environment: () => "Choose one with `-e NAME`.",
  one_state: () => "Remove `--state`, or remove `backend` from the declaration.",
  copy_state: (command) =>
    `Pass a copy of the state with \`--state FILE\`: the backend is then not used. To write a copy, run ${command("state pull")} in a trusted job.`,
  push_state: (command, name) =>
    `Move the state to the backend: ${command("state migrate")}. If you do not need the state, remove ${shellPath(name)}.`,
  push_kept: (command, name) =>
    `When the backend works: ${command(`state push ${shellPath(name)}`)}, then remove the file. If another run has written the state, the push is rejected: compare with ${command("state pull")}, and import the missing objects.`,
  join_project: (command, name) =>
    `To manage the object here, move the blocks and the state entries of that project: ${command(`project join ${shellPath(name)}`)}.`,
  decrypt_state: (command) => `Decrypt the state before Terraform uses it: ${command("state decrypt")}.`,
  trust_author: () => "If you trust the author, remove `--untrusted` (HOSTFORM_UNTRUSTED).",
  stack_output: () => "To apply the synthesized stacks: `--stack cdktf.out`.",
  stack_app: () => 'To synthesize and apply the stacks of this folder: `--app "node main.js"`.',
  stack_folder: () => "To apply the `*.tf.json` of this folder: `--stack .`.",
  synthesize: () =>
    "Pass a folder that cdktf or cdktn has written (`cdktf.out`), or synthesize first: `--app COMMAND`.",
  synthesize_elsewhere: () => "Synthesize in a job without credentials, and pass the output: `--stack cdktf.out`.",
  name_stack: () => "Pass the name of a stack, or its construct path, to `--only`.",
  apply_first: (_, name, other) =>
    `Apply this stack first: \`--only ${name}\`. Or apply both stacks in one run: \`--only ${name} --only ${other}\`.`,
  own_arguments: (_, name) =>
    `Unset ${name}. Pass \`--var\`, \`--var-file\` or \`--target\` to hostform, or set TF_VAR_NAME.`,
  give_variable: (_, name) => `Pass the value on the command line: \`--var ${name}=VALUE\`.`,
  stray_variable: () => "Correct the name, or remove `--var`.",
  adopt_folder: () =>
    "Run the command in the project's folder, or pass the folder with `-C`. Only `--declared` accepts `--file`.",
  clients_file: () => "Write a CSV file `service id or domain,client`, and pass it with `--clients FILE`.",
  export: (command) => `To translate the declaration for Terraform: ${command("export")}.`,
};

const sentText = (sent: JsonObject | undefined) =>
  sent === undefined ? "" : ` The body of the request: ${openJson(sent)}.`;

function statusSentence(
  { word, provider, phases, when }: Extract<RemedyAction, { do: "map_status" }>,
  { statusWord }: Language,
): string {
  const [likely = "", other] = phases;
  const mapped = statusWord(provider, String(word), likely);
  if (when !== undefined || other === undefined) return `Declare ${mapped}.`;
  return `Check the status in the dashboard. Then map it: ${mapped} ${SEEN[likely]}, or \`${other}\` ${SEEN[other]} (or \`pending\`, \`gone\`).`;
}

const SEEN: Readonly<Record<string, string>> = { live: "if it is online", suspended: "if it is suspended" };

function allowanceSentence(limits: readonly Allowance[], { lastingLimits }: Language): string {
  const flags = limits.map((one) => `\`${flagOf(one)}\``).join(" and ");
  if (limits.some(({ limit }) => limit === "removals"))
    return `To remove these resources in this run, add ${flags}.${lastingLimits}`;
  if (limits.some(({ limit }) => limit === "missing")) return `If these objects were deleted on purpose: ${flags}.`;
  if (limits.some(({ limit }) => limit === "older_state")) return `To push it anyway: ${flags}.`;
  if (limits.some(({ limit }) => limit === "insecure_http" || limit === "account_moved")) return `Pass ${flags}.`;
  const open = limits.some(({ limit }) => limit === "unknown_prices")
    ? ". Orders of unknown amount are then sent one by one, and each invoice counts"
    : "";
  return `To allow this for one run: ${flags}${open}.`;
}

/** Returns the flag that allows one thing, with its value. */
function flagOf(allowance: Allowance): string {
  switch (allowance.limit) {
    case "orders":
      return `--max-orders ${allowance.amount ?? "N"}`;
    case "spend":
      return `--max-spend ${allowance.currency}=${allowance.amount ?? "AMOUNT"}`;
    case "unknown_prices":
      return "--allow-unknown-prices";
    case "removals":
      return "--allow-removals";
    case "missing":
      return "--allow-missing";
    case "account_moved":
      return "--account-moved";
    case "insecure_http":
      return "--insecure-http";
    case "older_state":
      return "--force";
  }
}
