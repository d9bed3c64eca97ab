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

/** Differences between the languages that a declaration can have. */
export interface Language {
  /** Flags that select the project in every command, with a leading space: ` --stack DIR`. */
  readonly flags: string;
  /** Returns an attribute with its value, in backticks. */
  assign(attribute: string, value: Json): string;
  /** Returns the text with which the declaration adopts an existing object. @param id in the format of `import`. */
  adopt(id: string): string;
  /** Text with which the declaration recovers a lost state. If undefined, `adopt` is used. */
  readonly recover?: string;
  /** Returns the text that moves a state entry to another address, in backticks. */
  moved(from: string, to: string): string;
  /**
   * Returns the text that removes a resource from the state and keeps its object, in backticks. Undefined if the language cannot
   * express the address.
   */
  removed(address: string): string | undefined;
  /** Returns the attribute that selects the provider of a resource, in backticks. */
  provider(alias: string): string;
  /** Returns the setting that maps a status word to a phase, in backticks. */
  statusWord(provider: string, word: string, phase: string): string;
  /** Location of the project's name. */
  readonly project: string;
  /** Text with which the declaration raises the removal limits. Empty if the language has no such limits. */
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
      return `If it is lost: ${language.recover ?? `${recover.join(" and ")} recovers it from the account, without a change there.`}`;
    }
    case "restore_state":
      return `To go on with the last copy: ${command(`state push ${shellWord(action.backup)} --force`)}.`;
    case "move":
      if (action.from === undefined) return "";
      if (action.removed) return `Leave out what \`removed\` says of ${action.from}: its record moves here.`;
      if (action.occupied)
        return `Free it first: ${command(`state mv ${at} ${action.from.slice(0, action.from.indexOf("."))}.NAME`)}, then ${command(`state mv ${inQuotes(action.from)} ${at}`)}.`;
      return `Declare ${language.moved(action.from, subject ?? "ADDRESS")}.`;
    case "forget": {
      const stateRm = command(`state rm ${at}`);
      const removed = language.removed(subject ?? "ADDRESS");
      const forget = removed === undefined ? stateRm : `declare ${removed} in place of its block`;
      const or = action.when === undefined ? "Or " : "";
      const { id } = action;
      if (action.why === "import")
        return removed === undefined
          ? `${or}${stateRm}, and import the right one.`
          : `${or}${forget}, and adopt ${id === undefined ? "the right one" : "the object"} under another name with ${language.adopt(id ?? "ID")}.`;
      // No block repairs a state entry, and no block has two state entries.
      if (action.why === "restore") return `${or}${stateRm}, and import it again.`;
      if (action.why === "replace") return `${or}${stateRm}.`;
      return `${or}${forget}${action.when === undefined ? " to stop managing it" : ""}.`;
    }
    case "reorder":
      return `Order it again on purpose with \`--reorder ${at}\`${action.replayed ? ", or declare another `reference`" : ""}.`;
    case "renew":
      return `For a new one: ${command(`apply --replace ${at}`)}.`;
    case "order_anyway":
      return `To order another one: \`--order-anyway ${at}\`.`;
    case "resolve": {
      if (action.as === "forced")
        return `${command(`resolve ${at} --adopt ${shellWord(action.object ?? "ID")} --force`)}.`;
      if (action.as === "absent") return `${command(`resolve ${at} --absent`)}.${sentText(action.sent)}`;
      return `${command(`resolve ${at}`)} shows what is known of it; \`--adopt ID\` or \`--absent\` settles it.`;
    }
    case "redeclare": {
      const is = action.value === undefined ? "the old value" : language.assign(action.attribute, action.value);
      if (action.paid === "once") return `Put ${is} back.`;
      const order = action.paid ? " (a new order, with its own invoice)" : "";
      return `Either put ${is} back, or declare the other one under a new name${order} and remove this block (deletion_policy says what that means).`;
    }
    case "follow":
      return action.value === undefined
        ? `Declare the ${action.attribute} that it has.`
        : `Declare ${language.assign(action.attribute, action.value)}.`;
    case "correct_import":
      return action.value === undefined
        ? `Correct ${action.attribute}, or the id.`
        : `Declare ${language.assign(action.attribute, action.value)}, or correct the id.`;
    case "set": {
      const { attribute, value, example } = action;
      if (value === undefined) return `Add \`${attribute}\`.`;
      const set = language.assign(attribute, value);
      return example ? `Add \`${attribute}\`, for example ${set}.` : `Add ${set}.`;
    }
    case "use_provider":
      return `Put ${language.provider(action.provider)} back.`;
    case "name_project":
      return `Set ${language.project} to a name that stays.`;
    case "release": {
      const [first = "", ...more] = action.policies;
      const or = more.map((policy) => ` (or \`${policy}\`)`).join("");
      const policy = `${language.assign("deletion_policy", first)}${or}`;
      return action.to === "remove"
        ? `Put the block back with ${policy}, apply, then remove it.`
        : `To stop managing it, declare ${policy}, apply, then destroy.`;
    }
    case "map_status":
      return statusSentence(action, language);
    case "allow":
      return allowanceSentence(action.limits, language);
    case "apply_again":
      return "Apply again.";
    case "see":
      return {
        plans: `Declare one of those that ${command("plans")} shows.`,
        recorded: `Compare both with ${command("state show")}, then correct the state with ${command("state rm")} or ${command("state mv")}.`,
        swap: `To swap two servers without a domain, use ${command("state mv")} with a third name in between.`,
        addresses: `${command("state list")} shows every address.`,
        services: `${command("services")} lists the domains.`,
        pending: `${command("resolve")} lists what is pending.`,
        sandbox: "To try without an account: `hostform sandbox`.",
        requests: "`--verbose` shows the times of each request.",
      }[action.what];
    case "advise":
      return ADVICE[action.on](command, action.name ?? "", action.other ?? "");
    case "wake":
      return wakeOrEnd(action.pid);
    case "wait_for_lock":
      return "Wait for it (`--lock-timeout 5m`).";
    case "unlock": {
      const unlock = command(action.id === undefined ? "force-unlock" : `force-unlock ${shellWord(action.id)}`);
      return action.when === undefined ? `Free the lock: ${unlock}.` : `${unlock}.`;
    }
    case "encrypt_state": {
      const encrypt = command("state encrypt");
      return action.when === undefined ? `Encrypt it: ${encrypt}.` : `${encrypt}.`;
    }
    case "name_state":
      return "Name another file with `--state`.";
    case "report_shape":
      return "Report the shape of the API's answer (`hostform doctor`).";
  }
}

/**
 * @param command returns a command for this project, in backticks.
 * @param name and `other`: the words of the remedy.
 */
type Advise = (command: (words: string) => string, name: string, other: string) => string;

const ADVICE: { readonly [on in Advice]: Advise } = {
  new_plan: (command) => `Make a new plan: ${command("plan --out FILE")}.`,
  plan_file: (command) =>
    `${command("apply FILE")} takes a file that ${command("plan --out FILE")} wrote. One resource: \`--target ADDRESS\`.`,
  name_plan: (command) => `Name another file: ${command("plan --out acme.plan")}.`,
  name_report: (command) => `Name another file: ${command("plan --report plan.html")}.`,
  name_file: () => "Or name it on the command line: `-f` for a declaration, `--var-file` for values.",
  choose_environment: () => "Choose one with `-e NAME`.",
  one_state: () => "Leave out `--state`, or remove `backend` from the declaration.",
  copy_state: (command) =>
    `Name a copy of the state with \`--state FILE\`: the backend is not used then. ${command("state pull")} writes one where the declaration is trusted.`,
  push_state: (command, name) =>
    `Copy it to the backend with ${command(`state push ${shellPath(name)}`)}, then remove the file. If you do not need it, remove it.`,
  push_kept: (command, name) =>
    `When the backend works: ${command(`state push ${shellPath(name)}`)}, then remove the file. If another run has written since, the push is refused: ${command("state pull")} shows the state; import what it lacks.`,
  decrypt_state: (command) => `Decrypt it before Terraform uses it: ${command("state decrypt")}.`,
  trust_author: () => "If you trust the author, leave out `--untrusted` (HOSTFORM_UNTRUSTED).",
  stack_output: () => "To apply the synthesized stacks: `--stack cdktf.out`.",
  stack_app: () => 'To synthesize and apply the stacks of this folder: `--app "node main.js"`.',
  stack_folder: () => "To apply the `*.tf.json` of this folder: `--stack .`.",
  synthesize: () =>
    "Name a folder that cdktf or cdktn has written (`cdktf.out`), or synthesize first: `--app COMMAND`.",
  synthesize_elsewhere: () => "Synthesize where there are no credentials, and pass the output: `--stack cdktf.out`.",
  name_stack: () => "Give `--only` the name of a stack, or its construct path.",
  apply_first: (_, name, other) =>
    `Apply it first: \`--only ${name}\`; or both in one run: \`--only ${name} --only ${other}\`.`,
  own_arguments: (_, name) =>
    `Unset ${name}. Pass \`--var\`, \`--var-file\` or \`--target\` to hostform, or set TF_VAR_NAME.`,
  give_variable: (_, name) => `Give the value on the command line: \`--var ${name}=VALUE\`.`,
  stray_variable: () => "Correct the name, or leave out `--var`.",
  adopt_folder: () => "Run it in the project's folder, or name that with `-C`. `--declared` takes `--file`.",
  clients_file: () => "Write a CSV file `service id or domain,client`, and pass it with `--clients FILE`.",
  export: (command) => `To translate the declaration for Terraform: ${command("export")}.`,
};

const sentText = (sent: JsonObject | undefined) => (sent === undefined ? "" : ` It was sent as ${openJson(sent)}.`);

function statusSentence(
  { word, provider, phases, when }: Extract<RemedyAction, { do: "map_status" }>,
  { statusWord }: Language,
): string {
  const [likely = "", other] = phases;
  const mapped = statusWord(provider, String(word), likely);
  if (when !== undefined || other === undefined) return `Declare ${mapped}.`;
  return `Look at it in the dashboard, and say what the word means: ${mapped} ${SEEN[likely]}, \`${other}\` ${SEEN[other]} (or pending, or gone).`;
}

const SEEN: Readonly<Record<string, string>> = { live: "if it is up", suspended: "if it is suspended" };

function allowanceSentence(limits: readonly Allowance[], { lastingLimits }: Language): string {
  const flags = limits.map((one) => `\`${flagOf(one)}\``).join(" and ");
  if (limits.some(({ limit }) => limit === "removals"))
    return `If all of this should be removed, add ${flags} in this run${lastingLimits}.`;
  if (limits.some(({ limit }) => limit === "missing")) return `If all of them are gone on purpose: ${flags}.`;
  if (limits.some(({ limit }) => limit === "older_state")) return `To push it anyway: ${flags}.`;
  if (limits.some(({ limit }) => limit === "insecure_http" || limit === "account_moved")) return `Pass ${flags}.`;
  const open = limits.some(({ limit }) => limit === "unknown_prices")
    ? "; orders of unknown amount are then sent one by one, and each invoice counts"
    : "";
  return `To allow this for one run: ${flags}${open}.`;
}

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
