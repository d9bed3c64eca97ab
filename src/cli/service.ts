/** Runs `password` and `sso`, which act on a service immediately. Also finds the service of an argument. */
import path from "node:path";
import { breakCommands, didYouMean, foldedDomain, parseAddress, resourceOf } from "../core/model/index.ts";
import { type NamedService, panelUrl, passwordForm, withService } from "../project/one-service.ts";
import type { ProviderFlags } from "../project/providers.ts";
import { requirePassword } from "../project/run-policy.ts";
import type { ProjectSource } from "../project/source.ts";
import type { ProjectState } from "../project/state.ts";
import { escapeLine } from "../report/index.ts";
import { orRefuse, readText } from "./files.ts";
import { problem, raise } from "./messages.ts";
import { refuseSecretAsName } from "./options.ts";
import { type Action, printJson, revealJson, type Switches, say, type Terminal } from "./terminal.ts";

const SERVICE = "hosting_service";

/**
 * Returns the service that an argument means: an id, or the address or domain of a service in the state.
 * @param alias Value of `--provider`. The state contains the provider of an address.
 * @throws HostformError `usage`, `plan.address`, `plan.pending`.
 */
export async function serviceTarget(
  state: ProjectState,
  text: string,
  alias: string | undefined,
): Promise<NamedService> {
  const parsed = parseAddress(text);
  const isAddress = parsed?.type === SERVICE;
  const isId = !isAddress && /^[A-Za-z0-9_-]+$/.test(text);
  if (isId && /^\d+$/.test(text)) return { id: text, alias: alias ?? "default" };
  const { resources } = await state.read();
  const services = [...resources.values()].filter(({ address }) => address.startsWith(`${SERVICE}.`));
  const domain = foldedDomain(text);
  const [resource, another, ...more] = isAddress
    ? await state.select(text)
    : services.filter(({ attributes: { domain: one } }) => typeof one === "string" && foldedDomain(one) === domain);
  if (resource === undefined) {
    const addresses = services.map(({ address }) => address);
    const isName = addresses.some((address) => resourceOf(address) === `${SERVICE}.${text}`);
    // An id can be any word. The name of a service in the state is no id.
    if (isId && !isName) return { id: text, alias: alias ?? "default" };
    const domains = services.flatMap(({ attributes: { domain: one } }) => (typeof one === "string" ? one : []));
    const fix = isName ? didYouMean(`${SERVICE}.${text}`, addresses) : didYouMean(text, domains);
    return raise("usage/service", { text, fix });
  }
  const { address, provider, attributes } = resource;
  if (another !== undefined)
    raise("usage/several", { name: text, found: [resource, another, ...more].map((one) => one.address) });
  if (typeof attributes.id !== "string") return raise("plan.pending", { address });
  if (alias !== undefined && alias !== provider) raise("usage/other_provider", { address, provider, alias });
  return { id: attributes.id, alias: provider, record: resource };
}

interface PasswordFlags extends ProviderFlags {
  readonly passwordEnv?: string;
  readonly passwordFile?: string;
  readonly passwordStdin?: boolean;
  readonly generate?: boolean;
}

/** Minimum length of a password for shared and WordPress hosting (§8). */
const SHORTEST = 8;
/**
 * Runs `hostform password ADDRESS`: sets the control-panel password now (§4 POST /services/{id}/password). Shared and
 * WordPress hosting accept a given password. For Root VPS and Virtual Desktop, the API generates one, and the command prints
 * it.
 */
export const runPassword: Action<PasswordFlags, [target: string]> = async (terminal, project, flags, target) => {
  const given = await givenPassword(terminal, project.source, flags);
  project.redaction.learn("the given password", given);
  const named = await serviceTarget(project.state, target, flags.provider);
  const { id, record } = named;
  await requirePassword(project, id, named.alias);
  const { password, names } = await withService(project, named, async ({ client }, signal) => {
    const known = record?.attributes.product_type;
    const type = typeof known === "string" ? known : (await client.services.get(id, { signal })).product_type;
    checkForm(type, given);
    if (given === undefined && !flags.generate && passwordForm(type) === "unknown")
      raise("usage/password_form", { type: type ?? "(unknown)" });
    // Ctrl-C must not cancel a sent request, because only its response contains the new password.
    return client.services.resetPassword(id, { stop: signal, ...(given !== undefined && { password: given }) });
  });
  if (given !== undefined) {
    if (terminal.json) printJson(terminal, "password", { service_id: id, generated: false });
    say(terminal, `The password of service ${id} was set.`);
  } else {
    if (password === null) return raise("api.malformed/password", { id, names: names ?? "none" });
    project.redaction.learn("the generated password", password);
    if (terminal.json) revealJson(terminal, "password", { service_id: id, generated: true, password });
    // A pipe receives the password unchanged. A terminal must not receive control sequences.
    else terminal.reveal(`${terminal.outIsTerminal ? escapeLine(password) : password}\n`);
    say(terminal, `The API has set this password for service ${id}. It is shown only once.`);
    if (!terminal.json && breakCommands(password) !== password)
      say(terminal, "In the log of a CI, the password shows \\u005b for [ and \\u003a for a colon.");
  }
  say(terminal, "password_version in the declaration is unchanged: the next apply does not set the password again.");
  return 0;
};

function checkForm(type: string | null, given: string | undefined): void {
  const form = passwordForm(type);
  if (form === "given" && given === undefined) raise("usage/password_needed", { type: String(type) });
  if (form === "generated" && given !== undefined) raise("usage/password_generated", { type: String(type) });
}

/** Reads the password from the selected source. The command line is none, because other users can read it. */
async function givenPassword(
  terminal: Terminal,
  { env, cwd }: ProjectSource,
  { passwordEnv, passwordFile, passwordStdin, generate }: PasswordFlags,
): Promise<string | undefined> {
  if ([passwordEnv, passwordFile, passwordStdin, generate].filter((flag) => flag !== undefined).length > 1)
    raise("usage/combined", { options: "Two sources of a password" });
  let text: string | undefined;
  if (passwordEnv !== undefined) {
    text = env[passwordEnv];
    if (text === undefined) refuseSecretAsName("--password-env", passwordEnv, SHORTEST);
    if (text === undefined) raise("usage/unset", { variable: passwordEnv });
  } else if (passwordFile !== undefined) {
    const file = path.resolve(cwd, passwordFile);
    text = await orRefuse(readText(file), (reason) => problem("usage/password_file", { file, reason }));
  } else if (passwordStdin) text = await terminal.readInput();
  else return undefined;
  const password = text.replace(/\r?\n$/, "");
  const place = passwordEnv ?? passwordFile ?? "standard input";
  if (/[\r\n]/.test(password)) raise("usage/password_lines", { place });
  if ([...password].length < SHORTEST) raise("usage/password_short", { place, shortest: SHORTEST });
  return password;
}

/** Runs `hostform sso ADDRESS`: prints a one-time sign-in URL of the control panel, only on standard output. */
export const runSso: Action<ProviderFlags & Switches<"open">, [target: string]> = async (
  terminal,
  project,
  flags,
  target,
) => {
  const named = await serviceTarget(project.state, target, flags.provider);
  const { id } = named;
  const url = await panelUrl(project, named);
  if (flags.open) {
    await terminal.browse(url);
    say(terminal, `Opened the control panel of service ${id}.`);
    if (terminal.json) printJson(terminal, "sso", { service_id: id, opened: true });
  } else if (terminal.json) revealJson(terminal, "sso", { service_id: id, url });
  else terminal.reveal(`${url}\n`);
  return 0;
};
