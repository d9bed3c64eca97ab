import type { Code } from "../../src/core/model/index.ts";
import { deliveryRefusals, type WebhookCode } from "../../src/webhooks/event.ts";

/** What to do about each code, for `docs/errors.md`: in the language of the command line. Each message says more, in its own. */
const actions: Readonly<Record<Exclude<Code, WebhookCode>, string>> = {
  usage: "Follow the fix in the message; `hostform help COMMAND` shows the options of a command.",
  internal: "Report it with the command and its output; nothing secret is in the message.",
  interrupted: "Run the same command again: it continues where this one stopped.",
  "config.missing":
    "Create `hosting.yaml` with `hostform init`, or from what an account holds with `hostform adopt`. Or name files with `-f`, a folder with `-C`.",
  "config.unread": "Rename it so that it is read, or name the files with `-f`.",
  "config.unreadable": "Check that the path exists and that you may read it.",
  "config.syntax": "Correct the place shown; the caret marks it.",
  "config.structure": "Give the form that the message names.",
  "config.unknown_key": "Remove it or correct its name.",
  "config.unsupported": "Remove it, or use a version that has it.",
  "config.computed": "Remove it; elsewhere it can be used as `${ADDRESS.ATTRIBUTE}`.",
  "config.deprecated": "Do what the message says instead; the attribute still works.",
  "config.missing_attribute": "Add it; the kind's page under docs/kinds describes it.",
  "config.invalid_value": "Give one of the values or the form that the message names.",
  "config.duplicate": "Remove or rename one of the two.",
  "config.reference": "Correct the address, or declare what it names.",
  "config.circle": "Remove one of the references of the circle.",
  "config.expression": "Write `${hosting_service.NAME.id}` or `${env.NAME}`; a literal `${` is written `$${`.",
  "config.variable": "Set the environment variable TF_VAR_NAME, or give `--var NAME=VALUE` or `--var-file FILE`.",
  "config.environment": "Set it, or remove the reference to it.",
  "config.secret":
    "Mark the output with `sensitive: true`. Put a token or a password in an environment variable or a file of mode 0600 and name that (`token_env`, `token_file`; `password: {env: NAME}`).",
  "config.sensitive":
    "Write the value itself. If anyone may see the variable, add its name to `HOSTFORM_ENV_ALLOW`, or declare it under `variables`; in a stack, remove `sensitive` from it.",
  "config.include": "Correct the path, which is relative to the file with the `include`, or remove it.",
  "config.template":
    "Correct the place that the message names; the place after `used at` is where the template, or the value, is used.",
  "config.too_large": "Split the declaration into several files.",
  "stack.app":
    "Run the app alone and fix the errors that it prints; it must end with `app.synth()` and leave `outdir` to CDKTF_OUTDIR.",
  "stack.manifest": "Synthesize again with cdktf or cdktn; stacks must not depend on each other in a circle.",
  "stack.files": "Name a folder with `*.tf.json` and no other files of Terraform's; use Terraform itself for those.",
  "stack.annotation": "Fix in the app what the message names, and synthesize again; warnings do not block.",
  "stack.variables":
    "Give it with `--var NAME=VALUE`, TF_VAR_NAME, or in a JSON file (`--var-file`, `terraform.tfvars.json`).",
  "stack.workspace": "Unset TF_WORKSPACE or select `default`; make a stack for each environment.",
  "stack.remote_state": "Apply that stack first; its state must be in a file or in the backend `http` or `pg`.",
  "trust.file":
    "Put a regular file there, inside the project; or name the file on the command line (`-f`, `--var-file`).",
  "trust.origin": "Correct the address, or add its origin to HOSTFORM_ALLOWED_ORIGINS.",
  "trust.override": "Remove `base_url`; or set HOSTFORM_ALLOWED_ORIGINS to the origins that you intend.",
  "trust.untrusted":
    "Remove it from the declaration and set it outside: in the environment or on the command line. If you trust its author, leave `--untrusted` out.",
  "provider.unknown": "Declare it under `providers`, or correct the name.",
  "provider.token": "Set the environment variable that the message names, or `token_file`.",
  "provider.base_url": "Set `HOSTING_BASE_URL` or `base_url`; https is required except for loopback addresses.",
  "provider.ledger":
    "Set `HOSTFORM_STATE_HOME` to a folder that you may write in; `HOSTFORM_STORE=memory` if nothing else uses the token.",
  "provider.journal": "Set `HOSTFORM_STATE_HOME` to a folder that you may write in.",
  "store.turn": "Wait for the process that the message names, or end it if it hangs; then run the command again.",
  "store.turn_lost": "Run the command again: it reads the account first.",
  "store.unwritable": "Set `HOSTFORM_STATE_HOME` to a folder that you may write in.",
  "store.busy": "End the process that hangs, and run the command again.",
  "store.unsafe":
    "`chmod 700` the folder that the message names, or set `HOSTFORM_STATE_HOME` to a folder of your own.",
  "store.newer": "Use the newer version of hostform, or set `HOSTFORM_STATE_HOME` to another folder.",
  "store.damaged": "If another run was interrupted, apply there first.",
  "store.taken_over": "Look at the process that the message names; if it is stopped, let it go on or end it.",
  "store.waiting": "Wait for that process, or end it if it hangs.",
  "provider.proxy": "Correct HTTPS_PROXY or HTTP_PROXY: `http://HOST:PORT`.",
  "api.argument": "Give what the message names; nothing was sent.",
  "api.unauthenticated": "Check the token; create a new one in the dashboard if it was revoked.",
  "api.forbidden": "Use a token with the ability named, and not restricted to other services.",
  "api.not_found": "Check the id; the object may have been removed elsewhere.",
  "api.conflict": "Run the command again in a minute: the same Idempotency-Key is used, nothing is ordered twice.",
  "api.validation": "Correct the attributes that the message names.",
  "api.rate_limited": "Wait a minute, or lower `requests_per_minute` if others use the same token.",
  "api.rejected": "Read the server's own words in the message.",
  "api.server": "Try again later. If it fails again, ask the host.",
  "api.unreachable": "Do what the message says about the step that failed; nothing was sent unless it says so.",
  "api.timeout": "Try again; see `--verbose` for the times of each request.",
  "api.too_late": "Run the command again: it looks at the account first.",
  "api.late": "Apply again: hostform reads the account first, and nothing was sent.",
  "api.inconclusive": "Try again in a minute. If it stays, check that no proxy answers, then report it to the host.",
  "api.accepted": "Run the command again in a minute: it looks at the account first, and orders nothing twice.",
  "api.form": "Nothing to do if it is what you meant. Otherwise declare it as the API shows it.",
  "api.malformed":
    "Check that the base URL is the API's and not a page of a proxy; if it is the API's, report the shape that the message shows.",
  "api.redirect": "Set the base URL to the final address.",
  "api.too_large": "Report it to the host. A program that uses the client can raise `maxResponseBytes`.",
  "api.pagination":
    "If it says that the list changes while it is read, run the command again later. Otherwise report it to the host: hostform does not act on half a list.",
  "api.cancelled": "Run the command again.",
  "api.no_list": "If the list should have objects, check that no proxy answers. Otherwise report it to the host.",
  "api.deprecated":
    "Read the announcement of the host. Before the end, install a version of hostform that uses the new API.",
  "condition.own_form": "Ask the host why it does not accept the declared value.",
  "condition.other_plan":
    "Compare the invoice, and ask the host. Declare the plan that the service has if it was changed on purpose.",
  "condition.offline": "Ask the host for the reason, or declare whether the service is suspended.",
  "condition.unpaid": "Pay the invoice that the message names.",
  "condition.gone": "Remove the block if you no longer want it, or order it again on purpose.",
  "condition.unknown_status": "Give the word a meaning with `status_words`.",
  "condition.off": "Correct the receiver. Then switch the webhook on in the dashboard.",
  "condition.handed_over":
    "Remove the resource from the declaration if another account owns the object now. Otherwise use a token of the account that owns it.",
  "condition.outside": "Use a token of the whole account, or add the service to the restriction of the token.",
  "condition.unread": "Plan again when the cause that the message names is gone.",
  "plan.immutable": "Choose one of the ways that the message names.",
  "plan.mismatch": "Declare what the object has, or correct the id.",
  "plan.prevented":
    "Set `deletion_policy: forget` (or `suspend`) and apply, then remove the block; or declare `removed` with `destroy: false`.",
  "plan.stays": "End it in the dashboard.",
  "plan.offline": "Leave `suspended` or the removal out if you do not intend that.",
  "plan.exists": "Adopt it with `import: ID` or `hostform import ADDRESS ID`.",
  "plan.gone": "Remove its block, or order it again on purpose with `--reorder ADDRESS`.",
  "plan.unknown_status": "Map the word under `providers: … status_words`.",
  "plan.pending": "`hostform resolve` shows what is known about it; `--adopt ID` or `--absent` resolves it.",
  "plan.lookalike": "Adopt it with `hostform import`, or order another one with `--order-anyway ADDRESS`.",
  "plan.unreadable": "Adopt it with `hostform import`, or remove it; report the shape of the API's answer.",
  "plan.saved": "Make a new one with `hostform plan --out FILE`.",
  "plan.expired": "Remove it, or give a later `expires_at`.",
  "plan.catalogue": "Declare one of those that `hostform plans` shows.",
  "account.foreign":
    "Correct the address and the token of the provider. If the same account has moved, `--account-moved` for one run (Terraform: `HOSTFORM_ACCOUNT_MOVED=1`).",
  "account.double": "End in the dashboard what was ordered by mistake.",
  "account.unlisted":
    "Nothing to do: it is taken as recorded. Once `list_lag` is over, a plan shows what the account has.",
  "api.money_scale":
    "Set `money_scale: 0` if the amounts are in the currency itself, and `max_spend` in the same unit.",
  "plan.unknown_date": "Compare the date with the dashboard, and report the form to the host or to hostform.",
  "plan.unread":
    "Plan it with a token that has the ability the message names, where nobody but you can use that token.",
  "plan.unfit":
    "Leave the address out of `--replace` or `--reorder`. Webhooks and grants that exist can be replaced, services that are gone can be ordered again.",
  "plan.held_back": "Mend what the message names, or apply the other changes with `--partial`.",
  "plan.ability": "Use a token that has the ability. `hostform doctor` shows what the token may do.",
  "plan.restricted":
    "Order with a token of the whole account, or add each new service to the restriction of the token.",
  "plan.address": "Check it with `hostform state list` or `hostform plan`.",
  "guard.orders": "Check the plan; `--max-orders N` overrides for this run.",
  "guard.spend": "Check the plan; `--max-spend CURRENCY=AMOUNT` overrides for this run.",
  "guard.removals": "Check the plan: was a file left out? `--allow-removals` overrides for this run.",
  "guard.missing":
    "Check that the address and the token are those of the right account. If all of the missing resources are gone on purpose, `--allow-missing` for one run.",
  "policy.denied": "Change what is declared, or ask the owner of the policy.",
  "policy.warned": "Check what the message names. A window stops the apply as long as it lasts.",
  "policy.invalid": "Correct the file. `hostform policy test` reads it without an account.",
  "policy.failed": "Correct the function: it must return a list within 5 seconds.",
  "policy.unsupported":
    "Enforce that part with `hostform plan` and `hostform apply`, or give this run a policy without it.",
  "apply.price": "Run plan again and check the new price.",
  "apply.declined": "Answer `yes`, or pass `--auto-approve`.",
  "apply.skipped": "Fix the failure and apply again.",
  "apply.drifted": "Run plan again.",
  "apply.waiting": "Run plan again later.",
  "apply.replayed": "See the message; nothing was ordered.",
  "secret.output": "Fix the place that the message names; nothing is created before it can be written.",
  "secret.source": "Fix the place that the message names.",
  "secret.lost":
    "As a warning of an apply: nothing to do, the object was replaced and has another secret. Otherwise no answer held one; the message says how to get another.",
  "webhooks.secret": "Name one: `--secret-env NAME`, `--secret-file FILE` or `--webhook ADDRESS`.",
  "webhooks.listen": "See the message: it names the address that is not usable, and why.",
  "file.refused":
    "Free space on the disk, get access to the file, or save it as UTF-8, as the message says. Then run the command again: what is recorded stays recorded.",
  "webhooks.memory": "Name a file for this purpose only, in a folder that you can write to; it is created if missing.",
  "webhooks.subscription": "See the message; `hostform webhooks` lists the subscriptions.",
  "sandbox.control": "Run `hostform sandbox` and set HOSTING_SANDBOX_CONTROL_URL as it prints it.",
  "terraform.project": "Set `project` in the provider block, or HOSTFORM_PROJECT.",
  "terraform.reference": "Set `reference` to a name that no other order of the project has.",
  "terraform.lookup": "Correct what it looks for, or add a condition; the message names the candidates.",
  "terraform.not_known":
    "Give the setting named a value that is known when the plan is made, or apply what it comes from first (`-target`).",
  "terraform.too_old": "Use Terraform or OpenTofu 1.11 or later, or leave the attribute out.",
  "terraform.install": "See the message: it says what prevents it.",
  "terraform.export": "See the message: it says how that part is exported.",
  "state.journal": "See the message: it says what the journal holds and what to do.",
  "state.key": "Set HOSTFORM_STATE_PASSPHRASE or HOSTFORM_STATE_KEY to the key that it was encrypted with.",
  "state.unencrypted":
    "If it was encrypted before, someone replaced it: restore it. If it never was: `hostform state encrypt`.",
  "state.tracked": "`git rm --cached FILE`, and add it to .gitignore: a pull request could replace it.",
  "state.backend": "Check the `backend` section, its credentials in the environment, and that the server runs.",
  "state.lock_file": "Remove it and the files beside it: a lock file is an empty regular file.",
  "state.locked": "Wait for it (`--lock-timeout 5m`); if it hangs, end it, then `hostform force-unlock`.",
  "state.lost_lock": "Nothing more was written. Run plan to see the current state.",
  "state.unreadable": "Restore it from a backup or from version control.",
  "state.newer": "Use a version of hostform or Terraform that knows it.",
  "state.foreign": "Use `--state` to name another file.",
  "state.duplicate": "`terraform state rm` one of the two addresses, `terraform plan`, then apply.",
  "state.missing": "Put the state here, or declare its backend. If it is lost: `hostform adopt --declared`.",
  "state.stranger": "Check the address and the token of the provider: ids mean nothing in another account.",
  "state.shared":
    "Keep the object in one of the two states; forget it in the other one: `removed` with `destroy: false`.",
  "state.output": "`hostform output` shows all of them; the next `hostform apply` records new ones.",
  "state.unmanaged": "Nothing to do: hostform keeps them in the file as they are.",
  "state.conflict": "Pull the stored state and import into it what it lacks; `--force` overwrites it.",
  "state.unwritable": "Check disk space and permissions. The message says what was not recorded.",
};

/** What to do about a code. */
export function actionOf(code: Code): string {
  return code in deliveryRefusals
    ? deliveryRefusals[code as WebhookCode].remedy
    : actions[code as keyof typeof actions];
}
