import { apiCodes } from "./api-codes.ts";
import { listenCodes } from "./listen-codes.ts";
import { stackCodes } from "./stack-codes.ts";
import { trustCodes } from "./trust-codes.ts";
import { webhookCodes } from "./webhook-codes.ts";

/**
 * Every code that a diagnostic of hostform can carry, with what it means and what to do. One table: `docs/errors.md`
 * is generated from it, and a code that is not here does not compile.
 */
export const codes = {
  // Command line
  usage: [
    "The command line could not be understood",
    "Read the usage line below the message; `hostform help COMMAND` shows every option.",
  ],
  internal: [
    "A defect in hostform itself",
    "Report it with the command and its output; nothing secret is in the message.",
  ],
  interrupted: [
    "The run was stopped before everything was done",
    "Run the same command again: it goes on where this one stopped.",
  ],

  // Declaration
  "config.missing": [
    "No declaration was found",
    "Create `hosting.yaml` with `hostform init`, or name files with `-f` or a folder with `-C`.",
  ],
  "config.unreadable": ["A file could not be read", "Check that the path exists and that you may read it."],
  "config.syntax": ["The YAML cannot be parsed", "Correct the place shown; the caret stands where parsing failed."],
  "config.structure": ["A section or a value has the wrong form", "Give the form that the message names."],
  "config.unknown_key": ["A key is not known here", "Remove it or correct its name."],
  "config.unsupported": [
    "A part of the declaration is not supported by this version",
    "Remove it, or use a version that has it.",
  ],
  "config.computed": [
    "An attribute is declared that only the API gives",
    "Remove it; elsewhere it can be used as `${ADDRESS.ATTRIBUTE}`.",
  ],
  "config.missing_attribute": [
    "A required attribute is missing",
    "Add it; the kind's page under docs/kinds describes it.",
  ],
  "config.invalid_value": [
    "The value of an attribute is not allowed",
    "Give one of the values or the form that the message names.",
  ],
  "config.duplicate": ["Something is declared twice", "Remove or rename one of the two."],
  "config.reference": ["A reference does not lead anywhere", "Correct the address, or declare what it names."],
  "config.circle": ["References form a circle", "Remove one of the references of the circle."],
  "config.expression": [
    "An expression cannot be read or evaluated",
    "Write `${hosting_service.NAME.id}` or `${env.NAME}`; a literal `${` is written `$${`.",
  ],
  "config.variable": [
    "A variable of a stack has no value, or one that it does not accept",
    "Set the environment variable TF_VAR_NAME, or give `--var NAME=VALUE` or `--var-file FILE`.",
  ],
  "config.environment": ["An environment variable is not set", "Set it, or remove the reference to it."],
  "config.secret": [
    "A token or a password is written in the declaration, or an output would show a secret",
    "Mark the output with `sensitive: true`. Put a token or a password in an environment variable or a file of mode 0600 and name that (`token_env`, `token_file`; `password: {env: NAME}`).",
  ],
  "config.too_large": [
    "A file is larger or more deeply nested than is accepted",
    "Split the declaration into several files.",
  ],

  ...stackCodes,

  ...trustCodes,

  // Provider
  "provider.unknown": [
    "A resource names a provider that is not declared",
    "Declare it under `providers`, or correct the name.",
  ],
  "provider.token": [
    "No API token is available",
    "Set the environment variable that the message names, or `token_file`.",
  ],
  "provider.base_url": [
    "The base URL is missing or not usable",
    "Set `HOSTING_BASE_URL` or `base_url`; https is required except for loopback addresses.",
  ],
  "provider.ledger": [
    "Requests are counted in this process alone",
    "Set `HOSTFORM_STATE_HOME` to a folder that you may write in; `HOSTFORM_LEDGER=memory` if nothing else uses the token.",
  ],
  "provider.journal": [
    "What the Terraform provider creates is not noted durably",
    "Set `HOSTFORM_STATE_HOME` to a folder that you may write in.",
  ],
  "provider.proxy": ["The proxy setting is not usable", "Correct HTTPS_PROXY or HTTP_PROXY: `http://HOST:PORT`."],

  ...apiCodes,

  // Plan
  "plan.immutable": ["A change is not possible in place", "Choose one of the ways that the message names."],
  "plan.mismatch": ["The object to adopt is another than what is declared", "Declare what it is, or correct the id."],
  "plan.prevented": [
    "Removal is prevented by deletion_policy",
    "Set `deletion_policy: forget` (or `suspend`) and apply, then remove the block; or `hostform state rm`.",
  ],
  "plan.stays": ["What is removed from the state stays in the account, and is billed", "End it in the dashboard."],
  "plan.offline": [
    "A change takes a site offline that Terraform counts as `update` or `destroy`",
    "Leave `suspended` or the removal out if that is not meant.",
  ],
  "plan.exists": [
    "An object with the same natural key exists already",
    "Adopt it with `import: ID` or `hostform import ADDRESS ID`.",
  ],
  "plan.gone": [
    "An object in the state no longer exists",
    "Remove its block, or order it anew on purpose with `--reorder ADDRESS`.",
  ],
  "plan.unknown_status": [
    "The status of a service is not understood, so it is not acted upon, and what is declared of it counts as not done",
    "Map the word under `providers: … status_words`.",
  ],
  "plan.pending": [
    "An earlier create of this object has no known outcome",
    "`hostform resolve` shows what is known of it; `--adopt ID` or `--absent` settles it.",
  ],
  "plan.lookalike": [
    "A server that may be the declared one exists, and nothing tells the two apart",
    "Adopt it with `hostform import`, or insist on another order with `--order-anyway ADDRESS`.",
  ],
  "plan.unreadable": [
    "An object that may be the declared one exists, and the API does not show whether it is",
    "Adopt it with `hostform import`, or remove it; report the shape of the API's answer.",
  ],
  "plan.saved": ["A saved plan cannot be applied", "Make a new one with `hostform plan --out FILE`."],
  "plan.expired": ["A grant has expired and is not created again", "Remove it, or give a later `expires_at`."],
  "plan.catalogue": [
    "The plan to order is not in the API's list of plans",
    "Declare one of those that `hostform plans` shows.",
  ],
  "account.double": [
    "The account has several services with one domain, and one of them is managed here: each is billed",
    "End in the dashboard what was ordered by mistake.",
  ],
  "account.unlisted": [
    "An object was created just now, and no list shows it yet",
    "Nothing to do: it is taken as recorded. Once `list_lag` is over, a plan shows what the account has.",
  ],
  "plan.unmanaged": [
    "An attribute cannot be compared with the live object",
    "Nothing to do, unless the value matters; then check it in the dashboard.",
  ],
  "plan.unread": [
    "What the token may not read is not compared",
    "Plan it with a token that has the ability the message names, where nobody but you can use that token.",
  ],
  "plan.address": ["No resource has this address", "Check it with `hostform state list` or `hostform plan`."],

  // Guards
  "guard.orders": ["The plan orders more than is allowed", "Check the plan; `--max-orders N` overrides for this run."],
  "guard.spend": [
    "The plan spends more than is allowed, or an amount that cannot be known",
    "Check the plan; `--max-spend CURRENCY=AMOUNT` overrides for this run.",
  ],
  "guard.removals": [
    "The plan removes more than is allowed",
    "Check the plan: was a file left out? `--allow-removals` overrides for this run.",
  ],

  // Apply
  "apply.price": ["A price changed since the plan was made", "Run plan again and see the new price."],
  "apply.declined": ["The plan was not approved", "Answer `yes`, or pass `--auto-approve`."],
  "apply.skipped": ["A change was not made because one it depends on failed", "Mend the failure and apply again."],
  "apply.drifted": ["The live object changed between plan and apply", "Run plan again."],
  "apply.waiting": ["A queued job is not finished yet", "Run plan later to see whether it is."],
  "apply.replayed": [
    "The API answered an order with an object that is known to be gone",
    "See the message; nothing was ordered.",
  ],

  // Secrets
  "secret.output": [
    "A one-time secret cannot be written to its secret_output, or was not",
    "Mend the place that the message names; nothing is created before it can be written.",
  ],
  "secret.source": [
    "A secret value cannot be read from where it is declared to be",
    "Mend the place that the message names.",
  ],
  "secret.lost": [
    "A one-time secret was lost on its way",
    "As a warning of an apply: nothing to do, the object was replaced and has another secret. Otherwise no answer held one; the message says how to have another.",
  ],

  // Webhooks
  ...webhookCodes,
  ...listenCodes,

  // Terraform
  "terraform.project": [
    "The Terraform provider has no project, and a service is to be ordered",
    "Set `project` in the provider block, or HOSTFORM_PROJECT.",
  ],
  "terraform.reference": [
    "An order has no name of its own",
    "Set `reference` to a name that is this order's alone in the project.",
  ],
  "terraform.lookup": [
    "A data source finds no object that is what it looks for, or several",
    "Correct what it looks for, or say more; the message names what there is.",
  ],
  "terraform.not_known": [
    "The provider's configuration is known only after apply, and the account is needed before",
    "Give the setting named a value that is known when the plan is made, or apply what it comes from first (`-target`).",
  ],
  "terraform.too_old": [
    "This Terraform cannot keep a write-only attribute out of plan and state",
    "Use Terraform or OpenTofu 1.11 or later, or leave the attribute out.",
  ],
  "terraform.install": [
    "The Terraform provider cannot be put in place",
    "See the message: it says what stands in the way.",
  ],
  "terraform.export": [
    "A part of the declaration cannot be said in Terraform, or means something else there",
    "See the message: it says what becomes of that part.",
  ],

  // Contract
  "contract.leftover": [
    "A webhook that `hostform contract --write` registered could not be seen to be removed",
    "Look for it with `hostform webhooks`, and remove it in the dashboard.",
  ],

  // State
  "state.journal": [
    "The journal beside the state does not belong to it, or is damaged",
    "See the message: it says what the journal holds and how to go on.",
  ],
  "state.key": [
    "The state is encrypted and the key is missing or wrong",
    "Set HOSTFORM_STATE_PASSPHRASE or HOSTFORM_STATE_KEY to the key that it was encrypted with.",
  ],
  "state.unencrypted": [
    "There is a key, but the state or its journal is not encrypted",
    "If it was encrypted before, someone replaced it: restore it. If it never was: `hostform state encrypt`.",
  ],
  "state.tracked": [
    "git tracks the state or its journal",
    "`git rm --cached FILE`, and add it to .gitignore: a pull request could replace it.",
  ],
  "state.backend": [
    "The place where the state is kept cannot be used",
    "Check the `backend` section, its credentials in the environment, and that the server runs.",
  ],
  "state.lock_file": [
    "What stands in the place of the state's lock file is not one",
    "Remove it and what lies beside it: a lock file is an empty regular file.",
  ],
  "state.locked": [
    "Another process holds the state",
    "Wait for it (`--lock-timeout 5m`); if it hangs, end it, then `hostform force-unlock`.",
  ],
  "state.lost_lock": [
    "The lock was taken over while this process ran",
    "Nothing more was written. Run plan to see where things stand.",
  ],
  "state.unreadable": ["The state file cannot be read", "Restore it from a backup or from version control."],
  "state.newer": ["The state was written by a newer format", "Use a version of hostform or Terraform that knows it."],
  "state.foreign": ["The state is not one that hostform can manage", "Use `--state` to name another file."],
  "state.stranger": [
    "An object has the id of a recorded one and is another",
    "Check the address and the token of the provider: ids mean nothing in another account.",
  ],
  "state.output": [
    "The state has no such output",
    "`hostform output` shows all of them; one that was declared lately is recorded by the next `hostform apply`.",
  ],
  "state.unmanaged": [
    "The state holds objects of another program",
    "Nothing to do: hostform leaves them alone and keeps them in the file.",
  ],
  "state.conflict": [
    "The state given is older than, or unrelated to, the one stored",
    "Pull the current state, redo the change there, push again; `--force` overrides.",
  ],
  "state.unwritable": [
    "The state could not be written",
    "Check disk space and permissions. The message says what was not recorded.",
  ],
} as const satisfies Record<string, readonly [meaning: string, action: string]>;

export type Code = keyof typeof codes;
