/** `terraform validate` and `terraform plan` report mistakes at their position, before any request. */
import { expect, it } from "vitest";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { type Diagnosis, startTerraform } from "../support/terraform.ts";

const CONTACT = '{ email = "ana@acme.example" }';

/** Configurations with one mistake: the marked text, and the message. */
const MISTAKES: Readonly<Record<string, readonly [text: string, at: string, says: RegExp]>> = {
  "a currency that is none": [
    'resource "hosting_service" "a" {\n  plan_id  = 11\n  currency = "GBP"\n  domain   = "a.example"\n}',
    'currency = "GBP"',
    /GEL.*USD.*EUR/s,
  ],
  "a domain that is none": [
    'resource "hosting_service" "a" {\n  plan_id  = 11\n  currency = "USD"\n  domain   = "no domain"\n}',
    'domain   = "no domain"',
    /domain name/,
  ],
  "a term that is not offered": [
    'resource "hosting_service" "a" {\n  plan_id  = 11\n  currency = "USD"\n  domain   = "a.example"\n  term     = 7\n}',
    "term     = 7",
    /12/,
  ],
  "a plan_id that is not whole": [
    'resource "hosting_service" "a" {\n  plan_id  = 1.5\n  currency = "USD"\n  domain   = "a.example"\n}',
    "plan_id  = 1.5",
    /a whole number/,
  ],
  "a password that is too short": [
    'resource "hosting_service" "a" {\n  plan_id  = 11\n  currency = "USD"\n  domain   = "a.example"\n  password = "short"\n  password_version = 1\n}',
    'password = "short"',
    /at least 8/,
  ],
  "a password without its version": [
    'resource "hosting_service" "a" {\n  plan_id  = 11\n  currency = "USD"\n  domain   = "a.example"\n  password = "long enough"\n}',
    'password = "long enough"',
    /password_version/,
  ],
  "a deletion_policy that the kind does not have": [
    'resource "hosting_client_account" "a" {\n  name = "A"\n  deletion_policy = "suspend"\n}',
    'deletion_policy = "suspend"',
    /prevent.*forget/s,
  ],
  "a timeout that is none": [
    'resource "hosting_service" "a" {\n  plan_id  = 11\n  currency = "USD"\n  domain   = "a.example"\n  timeouts = { update = "soon" }\n}',
    'timeouts = { update = "soon" }',
    /20m/,
  ],
  "an event that nobody sends": [
    'resource "hosting_webhook" "a" {\n  url    = "https://a.example"\n  events = ["invoice.paid", "invoice.lost"]\n}',
    'events = ["invoice.paid", "invoice.lost"]',
    /invoice\.created/,
  ],
  "no event at all": [
    'resource "hosting_webhook" "a" {\n  url    = "https://a.example"\n  events = []\n}',
    "events = []",
    /at least one/,
  ],
  "a URL that is none": [
    'resource "hosting_webhook" "a" {\n  url    = "ftp://a.example"\n  events = ["invoice.paid"]\n}',
    'url    = "ftp://a.example"',
    /https/,
  ],
  "a secret_output in two forms": [
    'resource "hosting_webhook" "a" {\n  url    = "https://a.example"\n  events = ["invoice.paid"]\n  secret_output = { file = "a", command = ["cat"] }\n}',
    'secret_output = { file = "a", command = ["cat"] }',
    /exactly one of/,
  ],
  "an e-mail address that is none": [
    'resource "hosting_grant" "a" {\n  service_id = "1"\n  email      = "nobody"\n  permission = "view"\n}',
    'email      = "nobody"',
    /e-mail/,
  ],
  "an end that is no time": [
    'resource "hosting_grant" "a" {\n  service_id = "1"\n  email      = "a@a.example"\n  permission = "view"\n  expires_at = "soon"\n}',
    'expires_at = "soon"',
    /2027-01-31/,
  ],
  "more years than are sold": [
    `resource "hosting_domain" "a" {\n  domain = "a.example"\n  years  = 11\n  currency = "USD"\n  nameserver_mode = "default"\n  registrant_contact = ${CONTACT}\n}`,
    "years  = 11",
    /10/,
  ],
  "a base URL that is none": ['provider "hosting" {\n  base_url = "nowhere"\n}', 'base_url = "nowhere"', /https:\/\//],
  "a token with characters that no header carries": [
    'provider "hosting" {\n  token = "two words"\n}',
    'token = "two words"',
    /token/,
  ],
  "more requests than the API allows": [
    'provider "hosting" {\n  requests_per_minute = 6001\n}',
    "requests_per_minute = 6001",
    /60/,
  ],
  "a data source that is asked for two things": [
    'data "hosting_service" "a" {\n  id     = "1"\n  domain = "a.example"\n}',
    "",
    /id.*domain|domain.*id/s,
  ],
};

const HOOK = 'url    = "https://a.example"\n  events = ["invoice.paid"]';
const SITE = 'plan_id  = 11\n  currency = "USD"\n  domain   = "a.example"';

/** Checks of terraform-plugin-framework that Terraform does not do itself: framework-checks.md. */
const FRAMEWORK: typeof MISTAKES = {
  "a one-time secret of one's own": [
    `resource "hosting_webhook" "a" {\n  ${HOOK}\n  secret = "mysecret"\n}`,
    'secret = "mysecret"',
    /`secret` is set by the API.*Remove the attribute/s,
  ],
  "a read-only attribute of an ephemeral resource": [
    'ephemeral "hosting_panel_sso" "a" {\n  service_id = "1"\n  url        = "https://a.example"\n}',
    'url        = "https://a.example"',
    /ephemeral\.hosting_panel_sso\.NAME\.url/,
  ],
  "null in a set": [
    'resource "hosting_webhook" "a" {\n  url    = "https://a.example"\n  events = ["invoice.paid", null]\n}',
    'events = ["invoice.paid", null]',
    /The value is null/,
  ],
  "a wrong element beside an unknown one": [
    'resource "hosting_webhook" "a" {\n  url    = "https://a.example"\n  events = ["invoice.lost", terraform_data.later.output]\n}',
    'events = ["invoice.lost", terraform_data.later.output]',
    /invoice\.lost/,
  ],
  "a number beyond what Terraform's protocol carries exactly": [
    'resource "hosting_service" "a" {\n  plan_id  = 9223372036854775808\n  currency = "USD"\n  domain   = "a.example"\n}',
    "plan_id  = 9223372036854775808",
    /at most 15 digits|at most/,
  ],
};

/** Unknown values pass. Terraform validates again once they are known. */
const LATER = `
variable "id" {
  type    = string
  default = null
}
variable "domain" {
  type    = string
  default = null
}
variable "password" {
  type    = string
  default = null
}
data "hosting_service" "one" {
  id     = var.id
  domain = var.domain
}
resource "hosting_service" "with" {
  ${SITE}
  password = var.password
}
`;

/** Returns the text under its own resource name, so that one command reports every mistake. */
const renamed = (text: string, at: number) => text.replace(/^(resource|data|ephemeral) ("\w+") "a"/, `$1 $2 "m${at}"`);

describeWith(TERRAFORM)("mistakes in a configuration", { timeout: 60_000 }, () => {
  it("are located by `terraform validate`, all of them at once, without a request", async () => {
    const terraform = await startTerraform({ install: "running" });
    const mistakes = Object.entries(MISTAKES);
    const providers = mistakes.filter(([, [text]]) => text.startsWith("provider"));
    const others = mistakes.filter(([, [text]]) => !text.startsWith("provider"));
    const expectLocated = (found: readonly Diagnosis[], [name, [, at, says]]: (typeof mistakes)[number]) => {
      const here = found.filter((one) => (at === "" ? says.test(one.summary + one.detail) : one.at === at));
      expect(here, `${name}: ${JSON.stringify(found, null, 1)}`).toHaveLength(1);
      expect(`${here[0]?.summary} ${here[0]?.detail}`, name).toMatch(says);
    };
    await terraform.write(others.map(([, [text]], at) => `${renamed(text, at)}\n`).join(""));
    const found = await terraform.validate();
    for (const mistake of others) expectLocated(found, mistake);
    expect(found).toHaveLength(others.length);
    for (const mistake of providers) {
      await terraform.write(`${mistake[1][0]}\ndata "hosting_plans" "all" {}\n`);
      expectLocated(await terraform.validate(), mistake);
    }
    expect(terraform.sent()).toEqual([]);
    // Terraform prints the line. The provider's message repeats no secret.
    for (const { summary, detail } of found) expect(summary + detail).not.toContain('"short"');
  });

  it("that only a provider can find are located, and no message repeats a secret", async () => {
    const terraform = await startTerraform({ install: "running" });
    const mistakes = Object.entries(FRAMEWORK);
    const later = 'resource "terraform_data" "later" {\n  input = "x"\n}\n';
    await terraform.write(later + mistakes.map(([, [text]], at) => `${renamed(text, at)}\n`).join(""));
    const found = await terraform.validate();
    for (const [name, [, at, says]] of mistakes) {
      const here = found.filter((one) => one.at === at);
      expect(here, `${name}: ${JSON.stringify(found, null, 1)}`).toHaveLength(1);
      expect(`${here[0]?.summary} ${here[0]?.detail}`, name).toMatch(says);
    }
    expect(found).toHaveLength(mistakes.length);
    for (const { summary, detail } of found) expect(summary + detail).not.toContain("mysecret");
    await terraform.write(LATER);
    expect(await terraform.validate()).toEqual([]);
    expect(terraform.sent()).toEqual([]);
  });

  it("are found by the plan when they are known only then", async () => {
    const terraform = await startTerraform({ install: "running" });
    await terraform.write(`
variable "currency" {
  type = string
}
resource "hosting_service" "a" {
  plan_id  = 31
  currency = var.currency
}
`);
    const wrong = await terraform.refused("-var=currency=GBP");
    expect(wrong.errors).toMatchObject([{ address: "hosting_service.a", at: "currency = var.currency" }]);
    const nameless = await terraform.refused("-var=currency=USD");
    expect(nameless.errors).toMatchObject([{ address: "hosting_service.a" }]);
    expect(`${nameless.errors[0]?.summary} ${nameless.errors[0]?.detail}`).toMatch(/reference/);
  });
});
