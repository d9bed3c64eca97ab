/** Rules that hold with every server. The judge checks the records of the sandbox, the state and the output. */
import type { Declared } from "./declared.ts";
import type { Host, Ran } from "./host.ts";

/** Codes of messages that name an unexpected behaviour of the server, or a decision of the user. */
const NAMED = /\[((?:api|plan|guard|apply|secret)\.\w+)\]/g;

/** Returns the objections to the output and the requests of one command. */
export function objectionsToRun(ran: Ran): string[] {
  const found: string[] = [];
  if (/\n\s+at .+:\d+:\d+\)?/.test(ran.text) || ran.text.includes("[internal]"))
    found.push("a stack trace or a defect");
  if (ran.command.startsWith("plan") && ran.writes.length > 0) found.push(`a plan sent ${ran.writes.join(", ")}`);
  // A change that waits for a job of the host is listed under its address, without a code.
  if (ran.code === 1 && codesOf(ran).length === 0 && !/ waits? for /.test(ran.text))
    found.push("exit 1 without a reason that names the gap");
  return found;
}

export function codesOf({ text }: Ran): string[] {
  return [...text.matchAll(NAMED)].map(([, code = ""]) => code);
}

/**
 * Returns objects with more creates than declarations, and broken invariants of the sandbox.
 * @param absent True if the user sent a registration again after a check. The invariants do not know the check.
 */
export function doubles(host: Host, absent = false): string[] {
  // A webhook whose secret was lost is replaced. For webhooks, count only simultaneous objects.
  const made = [...host.made].filter(([key]) => !key.startsWith("webhook "));
  const hooks = Map.groupBy(host.control.list("webhooks"), ({ url, events }) => `webhook ${url} ${events.join()}`);
  const counts = [...made, ...[...hooks].map(([key, some]) => [key, some.length] as const)];
  const twice = counts.filter(([, count]) => count > 1).map(([key, count]) => `${count} × ${key}`);
  const pardoned = new Set<string>([
    ...(absent ? ["domain_sent_twice"] : []),
    ...(host.sharesLedger ? [] : ["over_rate"]),
  ]);
  const { broken } = host.control.invariants();
  const rules = broken.filter(({ rule }) => !pardoned.has(rule)).map(({ rule, message }) => `${rule}: ${message}`);
  return [...twice, ...rules];
}

/**
 * Returns suspended services that no declaration suspends.
 * @param declarations All declarations so far, because jobs of the host take time.
 */
export function suspensions(host: Host, declarations: readonly Declared[]): string[] {
  const wanted = declarations.flatMap(({ services }) => Object.values(services)).filter(({ suspended }) => suspended);
  return servicesOf(host)
    .filter(({ status, suspended_for }) => status === "suspended" && suspended_for === "request")
    .filter((one) => !wanted.some((service) => isOf(service, one)))
    .map(({ id }) => `service ${id} is suspended, which nobody declared`);
}

/** Returns the declared changes that a run with exit code 0 did not apply. */
export async function undone(host: Host, declared: Declared): Promise<string[]> {
  const found: string[] = [];
  const { control } = host;
  const { resources } = await host.state();
  const services = servicesOf(host);
  for (const [name, wanted] of Object.entries(declared.services)) {
    const live = services.filter((one) => isOf(wanted, one));
    const [one] = live;
    if (one === undefined || live.length > 1) {
      found.push(`service ${name} is there ${live.length} times`);
      continue;
    }
    const recorded = resources.get(`hosting_service.${name}`)?.attributes;
    if (String(recorded?.id) !== String(one.id))
      found.push(`service ${name} is ${one.id}, recorded as ${recorded?.id}`);
    // Other changes wait until the invoice is paid.
    if (one.status === "pending" || one.provisioning_status !== "provisioned") continue;
    if (wanted.suspended !== undefined && wanted.suspended !== (one.status === "suspended")) {
      found.push(`service ${name} is ${one.status}, declared suspended: ${wanted.suspended}`);
    }
    if (wanted.passwordVersion !== undefined) {
      const password = recorded?.generated_password;
      const last = host.passwords.findLast((body) => body.includes("-Aa1"));
      if (typeof password !== "string" || !last?.includes(password)) found.push(`the password of ${name} is lost`);
    }
    for (const [email, { permission, expires_at }] of Object.entries(wanted.grants)) {
      const [grant] = control.list("grants").filter((each) => each.service_id === one.id && each.email === email);
      if (grant === undefined) found.push(`${email} has no grant of ${name}`);
      else if (grant.permission !== permission || instant(grant.expires_at) !== instant(expires_at)) {
        found.push(`the grant of ${email} is ${grant.permission} until ${grant.expires_at}`);
      }
    }
  }
  for (const grant of control.list("grants")) {
    const service = services.find(({ id }) => id === grant.service_id);
    const wanted = Object.values(declared.services).find((one) => service !== undefined && isOf(one, service));
    if (wanted !== undefined && wanted.grants[grant.email] === undefined)
      found.push(`${grant.email} still has a grant`);
  }
  const hooks = control.list("webhooks");
  for (const [name, { url, events }] of Object.entries(declared.webhooks)) {
    const live = hooks.filter((hook) => hook.url === url);
    const [hook] = live;
    if (live.length !== 1 || hook === undefined || !same(hook.events, events)) {
      found.push(`webhook ${name} is there as ${live.map((one) => one.events.join("+")).join(" and ") || "nothing"}`);
      continue;
    }
    const secret = resources.get(`hosting_webhook.${name}`)?.attributes.secret;
    if (secret !== hook.secret)
      found.push(`the secret of webhook ${name} is lost (${secret === null ? "null" : typeof secret})`);
  }
  const count = (what: string, wanted: number, live: number) =>
    wanted === live ? [] : [`${live} ${what} for ${wanted} declared`];
  found.push(
    ...count("webhooks", Object.keys(declared.webhooks).length, hooks.length),
    ...count("client accounts", Object.keys(declared.accounts).length, control.list("accounts").length),
    ...count("migration requests", Object.keys(declared.migrations).length, control.list("migration_requests").length),
    ...count("domains", Object.keys(declared.domains).length, control.list("domains").length),
  );
  return found;
}

export const servicesOf = (host: Host) =>
  host.control.list("services").filter(({ customer_id, status }) => customer_id === 1 && status !== "terminated");

const isOf = (
  wanted: { readonly plan: number; readonly domain?: string },
  one: { readonly plan_id: number; readonly domain: string | null },
) => (wanted.domain === undefined ? one.domain === null && one.plan_id === wanted.plan : one.domain === wanted.domain);

const instant = (text: string | null | undefined) => (text ? Date.parse(text) : null);
const same = (a: readonly string[], b: readonly string[]) => a.toSorted().join() === b.toSorted().join();
