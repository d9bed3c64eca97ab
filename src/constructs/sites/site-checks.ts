import type { ClientAccount } from "../../../bindings/cdktf/lib/client-account/index.ts";
import type { Grant } from "../../../bindings/cdktf/lib/grant/index.ts";
import type { MigrationRequest } from "../../../bindings/cdktf/lib/migration-request/index.ts";
import type { Service } from "../../../bindings/cdktf/lib/service/index.ts";
import type { Webhook } from "../../../bindings/cdktf/lib/webhook/index.ts";
import {
  checkDomain,
  checkEmail,
  checkInstant,
  checkPositive,
  checkText,
  checkUrl,
  checkWord,
  isToken,
  needed,
  shown,
} from "./checks.ts";
import { LONGEST_REFERENCE } from "./order-reference.ts";
import { Currency, DeletionPolicy, EventName, Permission, Term } from "./words.ts";

// What is wrong with a resource, one sentence each. It is read from the resource, not from what it was made with: whoever
// changes it by way of `site.service` is told as well.

const { SUSPEND: _, ...KEEPING } = DeletionPolicy;

export function serviceMistakes(service: Service): string[] {
  const { passwordInput: password, passwordVersionInput: version, secretOutputInput: place } = service;
  return [
    ...needed(checkPositive)("planId", service.planIdInput),
    ...needed(checkWord(Currency))("currency", service.currencyInput),
    ...checkWord(Term)("term", service.termInput),
    ...checkDomain("domain", service.domainInput),
    ...checkText()("couponCode", service.couponCodeInput),
    ...checkText(LONGEST_REFERENCE)("reference", service.referenceInput),
    ...checkPositive("passwordVersion", version),
    ...checkWord(DeletionPolicy)("deletionPolicy", service.deletionPolicyInput),
    ...(password !== undefined && !isToken(password)
      ? ["password: a literal text would stand in clear text in cdk.tf.json; use Password.fromVariable"]
      : []),
    ...(password !== undefined && place !== undefined
      ? ["password: a password that is given has no secretOutput, which is for one that the host makes"]
      : []),
  ];
}

export function grantMistakes({ node, emailInput, permissionInput, expiresAtInput }: Grant): string[] {
  return [
    ...needed(checkEmail)("email", emailInput),
    ...needed(checkWord(Permission))("permission", permissionInput),
    ...checkInstant("expiresAt", expiresAtInput),
  ].map((mistake) => `grant ${shown(node.id)}: ${mistake}`);
}

export function migrationMistakes({ domainInput, deletionPolicyInput }: MigrationRequest): string[] {
  return [
    ...checkDomain("migration.domain", domainInput),
    ...checkWord(KEEPING)("migration.deletionPolicy", deletionPolicyInput),
  ];
}

export function accountMistakes(account: ClientAccount): string[] {
  return [
    ...needed(checkText())("name", account.nameInput),
    ...checkText()("companyName", account.companyNameInput),
    ...checkText()("companyNumber", account.companyNumberInput),
    ...checkText()("vatNumber", account.vatNumberInput),
    ...checkWord(Currency)("currency", account.currencyInput),
    ...checkWord(KEEPING)("deletionPolicy", account.deletionPolicyInput),
  ];
}

export function webhookMistakes({ urlInput, eventsInput = [] }: Webhook): string[] {
  return [
    ...needed(checkUrl)("url", urlInput),
    ...(isToken(eventsInput) ? [] : eventsInput.flatMap((event) => checkWord(EventName)("events", event))),
    ...(eventsInput.length === 0 ? ["events: at least one is needed"] : []),
  ];
}
