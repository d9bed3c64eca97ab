/** One-time actions on a service, `password` and `sso`; and the way in which a command names a service. */
import path from "node:path";
import { breakCommands, didYouMean, fail, foldedDomain, parseAddress, resourceOf } from "../core/model/index.ts";
import { type NamedService, panelUrl, passwordForm, withService } from "../project/one-service.ts";
import type { ProviderFlags } from "../project/providers.ts";
import type { ProjectSource } from "../project/source.ts";
import type { ProjectState } from "../project/state.ts";
import { escapeLine } from "../report/index.ts";
import { orFail, readText } from "./files.ts";
import { refuseSecretAsName } from "./options.ts";
import { type Action, printJson, revealJson, type Switches, say, type Terminal } from "./terminal.ts";

const SERVICE = "hosting_service";

/**
 * The service that an argument names: the address or the domain of a recorded one, or an id as it is.
 * @param alias `--provider`; for an address the state knows it.
 * @throws HostformError `usage`, `plan.address`, `plan.pending`.
 */
export async function serviceTarget(
  state: ProjectState,
  text: string,
  alias: string | undefined,
): Promise<NamedService> {
  const domain = foldedDomain(text);
  const isDomain = text.includes(".") && !text.startsWith(`${SERVICE}.`);
  const named = isDomain
    ? [...(await state.read()).resources.values()].filter(
        ({ address, attributes }) => address.startsWith(`${SERVICE}.`) && foldedDomain(attributes.domain) === domain,
      )
    : [];
  const [one, second] = named;
  if (second !== undefined) {
    fail("usage", `${text} is the domain of several services`, {
      remedies: [`Name one of them: ${named.map(({ address }) => address).join(", ")}.`],
    });
  }
  if (one !== undefined) return serviceTarget(state, one.address, alias);
  const parsed = parseAddress(text);
  if (parsed === undefined) return byId(state, text, alias);
  if (parsed.type !== SERVICE) {
    const { resources } = await state.read();
    const domains = [...resources.values()].flatMap(({ address, attributes: { domain: one } }) =>
      address.startsWith(`${SERVICE}.`) && typeof one === "string" ? [one] : [],
    );
    fail("usage", `${text} is not a managed service.${didYouMean(text, domains)}`, { remedies: [NAMED] });
  }
  const [resource, another] = await state.select(text);
  if (resource === undefined || another !== undefined) {
    fail("usage", `${text} names several services`, {
      remedies: [`Name one of them, such as '${resource?.address}'.`],
    });
  }
  const { address, provider, attributes } = resource;
  if (typeof attributes.id !== "string") {
    fail("plan.pending", `The state has no id for ${address}`, {
      detail: "The result of its order is unknown.",
      remedies: ["Run `hostform apply`; it finds the result."],
      address,
    });
  }
  if (alias !== undefined && alias !== provider) {
    fail("usage", `${address} belongs to provider ${provider}, not ${alias}`, { remedies: ["Remove --provider."] });
  }
  return { id: attributes.id, alias: provider, record: resource };
}

const NAMED = `Give an id such as 1001, the domain of a managed service, or an address such as ${SERVICE}.acme-www (\`hostform state list\`).`;

async function byId(state: ProjectState, text: string, alias = "default"): Promise<NamedService> {
  if (!/^[A-Za-z0-9_-]+$/.test(text)) {
    fail("usage", `${JSON.stringify(text)} is neither the id, the address nor the domain of a managed service`, {
      remedies: [NAMED],
    });
  }
  // An id may be any word, but a word that names a recorded service was hardly meant as an id.
  if (!/^\d+$/.test(text)) {
    const services = [...(await state.read()).resources.keys()].filter((key) => key.startsWith(`${SERVICE}.`));
    const names = services.map((address) => resourceOf(address).slice(SERVICE.length + 1));
    if (names.includes(text)) {
      fail("usage", `${text} is the name of a service, not its id.${didYouMean(`${SERVICE}.${text}`, services)}`, {
        remedies: [NAMED],
      });
    }
  }
  return { id: text, alias };
}

interface PasswordFlags extends ProviderFlags {
  readonly passwordEnv?: string;
  readonly passwordFile?: string;
  readonly passwordStdin?: boolean;
  readonly generate?: boolean;
}

/** §8: passwords of shared and WordPress hosting. */
const SHORTEST = 8;
const SOURCES = "--password-env NAME, --password-file FILE or --password-stdin";

/**
 * `hostform password ADDRESS`: sets the control-panel password now (§4 POST /services/{id}/password). Shared and
 * WordPress hosting take one; for Root VPS and Virtual Desktop the API makes one, which is printed and nothing else.
 */
export const runPassword: Action<PasswordFlags, [target: string]> = async (terminal, project, flags, target) => {
  const given = await givenPassword(terminal, project.source, flags);
  project.redaction.learn("the given password", given);
  const named = await serviceTarget(project.state, target, flags.provider);
  const { id, record } = named;
  const { password, names } = await withService(project, named, async ({ client }, signal) => {
    const known = record?.attributes.product_type;
    const type = typeof known === "string" ? known : (await client.services.get(id, { signal })).product_type;
    checkForm(type, given);
    if (given === undefined && !flags.generate && passwordForm(type) === "unknown") {
      fail("usage", `hostform does not know how services of type ${type ?? "(unknown)"} get their password`, {
        remedies: [`Pass ${SOURCES}, or --generate to have the API make one.`],
      });
    }
    // Once it has left it is awaited, Ctrl-C or not: the answer may be the only one to say the new password.
    return client.services.resetPassword(id, { stop: signal, ...(given !== undefined && { password: given }) });
  });
  if (given !== undefined) {
    if (terminal.json) printJson(terminal, { service_id: id, generated: false });
    say(terminal, `The password of service ${id} was set.`);
  } else {
    if (password === null) {
      fail("api.malformed", `The password of service ${id} was reset, but the answer does not hold the new one`, {
        detail: `The answer is the only way to learn a generated password. The names in it: ${names ?? "none"}.`,
        remedies: [
          "Set a password on the server or in the host's dashboard. Running this command again resets it once more, probably with the same kind of answer.",
        ],
      });
    }
    project.redaction.learn("the generated password", password);
    if (terminal.json) revealJson(terminal, { service_id: id, generated: true, password });
    // A pipe gets it as it is; a terminal could be steered by what it holds.
    else terminal.reveal(`${terminal.outIsTerminal ? escapeLine(password) : password}\n`);
    say(terminal, `The API has set this password for service ${id}. It is shown only once.`);
    if (!terminal.json && breakCommands(password) !== password)
      say(terminal, "In the log of a CI, \\u005b stands for [ and \\u003a for a colon in it.");
  }
  say(terminal, "password_version in the declaration is unchanged: the next apply does not set the password again.");
  return 0;
};

function checkForm(productType: string | null, given: string | undefined): void {
  const form = passwordForm(productType);
  if (form === "given" && given === undefined) {
    fail("usage", `A service of type ${productType} needs a password from you`, {
      detail: "The API generates passwords for Root VPS and Virtual Desktop only.",
      remedies: [`Pass ${SOURCES}.`],
    });
  }
  if (form === "generated" && given !== undefined) {
    fail("usage", `A service of type ${productType} takes no password: the API generates it`, {
      remedies: ["Pass no password."],
    });
  }
}

/** The password that the flags name; never on the command line, where other users can see it. */
async function givenPassword(
  terminal: Terminal,
  source: ProjectSource,
  flags: PasswordFlags,
): Promise<string | undefined> {
  const { passwordEnv, passwordFile, passwordStdin, generate } = flags;
  if ([passwordEnv, passwordFile, passwordStdin, generate].filter((flag) => flag !== undefined).length > 1) {
    fail("usage", "More than one source is given for the password", {
      remedies: [`Pass one of ${SOURCES}, or --generate.`],
    });
  }
  const [text, place] =
    passwordEnv !== undefined
      ? [source.env[passwordEnv] ?? unset(passwordEnv), `the environment variable ${passwordEnv}`]
      : passwordFile !== undefined
        ? [await fromFile(path.resolve(source.cwd, passwordFile)), passwordFile]
        : passwordStdin
          ? [await terminal.readInput(), "standard input"]
          : [undefined, ""];
  if (text === undefined) return undefined;
  const password = text.replace(/\r?\n$/, "");
  if (/[\r\n]/.test(password)) {
    fail("usage", `The password has more than one line (${place})`, {
      remedies: ["Provide the password and nothing else."],
    });
  }
  if ([...password].length < SHORTEST) {
    fail("usage", `The password is too short (${place})`, { remedies: [`Give at least ${SHORTEST} characters.`] });
  }
  return password;
}

const fromFile = (file: string) =>
  orFail(readText(file), "usage", "The password file cannot be read", { detail: file });

function unset(name: string): never {
  refuseSecretAsName("--password-env", name, SHORTEST);
  fail("usage", `The environment variable ${name} is not set`, {
    remedies: ["Set it to the password, and export it."],
  });
}

/** `hostform sso ADDRESS`: a one-time sign-on URL of the control panel, on standard output and nowhere else. */
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
    if (terminal.json) printJson(terminal, { service_id: id, opened: true });
  } else if (terminal.json) revealJson(terminal, { service_id: id, url });
  else terminal.reveal(`${url}\n`);
  return 0;
};
