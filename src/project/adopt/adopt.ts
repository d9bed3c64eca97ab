/** Adopts an existing account into the state. Sends GET requests only. */
import path from "node:path";
import { resolveConfig, scopeOf } from "../../core/engine/index.ts";
import { exists, type Reading, read } from "../../core/files/index.ts";
import { kindAt, kinds } from "../../core/kinds/index.ts";
import { importIdOf, matches, type Remote } from "../../core/kinds/kind.ts";
import { service } from "../../core/kinds/service/index.ts";
import { Account, isPendingCreate } from "../../core/lifecycle/index.ts";
import {
  escapeLine,
  fail,
  fileFailure,
  foldedDomain,
  HostformError,
  isProjectName,
  type JsonObject,
  type State,
  utf8,
  type ValueObject,
} from "../../core/model/index.ts";
import { secondsFor } from "../../report/index.ts";
import { identityOf, marking, requireAccount } from "../identity.ts";
import { raise } from "../messages.ts";
import type { Project } from "../project.ts";
import { type Provider, withProviders } from "../providers.ts";
import type { ProjectSource } from "../source.ts";
import { yamlRemedies } from "../stack-diagnostics.ts";
import { gitignoreWith, nameFrom } from "../starter.ts";
import { CHOOSE, type Known, settled } from "./declare.ts";
import { type KeptLists, openKept } from "./kept.ts";
import { filesIn, type Language, recordIn, refuseForeign, yaml } from "./language.ts";
import { givenNames, readPairs } from "./names.ts";
import { proved, type Standing, type Texts } from "./proof.ts";
import { type AccountContents, keepingReader, readCollections, readGrants, selectionOf } from "./read.ts";
import type { Adopted, AdoptFormat, AdoptOptions, Forecast } from "./types.ts";
import { type FileChange, writeFiles } from "./write.ts";

/**
 * Brings an account under management.
 *
 * 1. Reads each list, passes the forecast to `approve`, and reads the grants with one request per service. A file beside the
 * state keeps the lists, so that a retry within an hour can reuse them.
 * 2. Declares objects that are neither in the declaration nor in the state.
 * 3. Adds these objects to the state, and plans from the same lists. Omits objects with planned changes.
 * 4. Writes all files and the state, or nothing.
 *
 * @throws HostformError for mistakes in the declaration, or if the account cannot be read. No file is then written.
 */
export async function adoptAccount(
  parts: Project,
  options: AdoptOptions,
  approve: (forecast: Forecast) => boolean | Promise<boolean>,
): Promise<Adopted> {
  const { source, host, redaction, log, declaration, state: recorded } = parts;
  if (source.stack !== undefined || (source.files.length > 0 && options.declared !== true))
    raise("usage/adopt_files", {});
  const alias = options.provider ?? "default";
  const given = {
    names: givenNames(await pairsOf(source.cwd, options.names), kinds.values(), options.names ?? ""),
    clients: new Map((await pairsOf(source.cwd, options.clients)).map(({ key, value }) => [key, value])),
  };
  const { format = "yaml" } = options;
  const standing = await standingAt(parts);
  if (format !== "yaml" && standing.desired !== undefined) raise("usage/adopt_format", { format });
  const project = options.project ?? nameFrom(source.dir);
  if (!isProjectName(project)) {
    fail("usage", `${JSON.stringify(project)} cannot be the name of a project`, {
      remedies: ["Give another name, of at most 64 letters, digits, `.`, `_` and `-`."],
    });
  }
  const language = await languageOf(format);
  const configured = await filesIn(language, source.dir);
  const configs = await declaration.providers();
  return recorded.write("adopt", (store, signal) =>
    withProviders(configs, parts, signal, async (providers) => {
      refuseForeign(configured, store.state);
      refusePending(store.state);
      const provider = await providers.use(alias);
      const file = `${source.state}.adopt`;
      const encryption = recorded.encryption();
      const kept = await openKept({ file, account: providers.accountName(alias), now: host.clock.now(), encryption });
      let isDone = false;
      try {
        if (kept.found > 0) {
          const minutes = Math.max(0, Math.round((host.clock.now() - kept.since) / 60_000));
          const ago = minutes === 0 ? "less than a minute" : `${minutes} min`;
          const place = escapeLine(path.relative(source.cwd, file));
          log.say(`Reusing ${kept.found} lists that were read ${ago} ago, from ${place}.`);
        }
        const reading = new Account(keepingReader(provider.client, kept), provider.account.settings, signal);
        reading.origin = provider.account.origin;
        requireAccount(alias, reading, store.state);
        reading.proveAbsence(service);
        const listed = await reading.list(service);
        const { clients, stray } = clientsOf(given.clients, listed, options.clients);
        const selection = selectionOf(options, clients);
        const flat = await readCollections(reading, selection);
        selection.refuseUnmatched();
        const before = store.state;
        const inUse = language.addressesIn(configured);
        const fixed = { ...given, clients, language, isDeclaredOnly: options.declared === true };
        const knownFor = (found: Known["found"]): Known => {
          return { ...knownOf(standing, before, alias, source.env, inUse, found), ...fixed };
        };
        const all = flat.objects.get("hosting_service") ?? [];
        const services = options.declared ? declaredAmong(all, knownFor(new Map())) : all;
        await reading.confirm?.();
        const forecast = forecastOf(flat, services, provider, kept, host.clock.now());
        if (!(await approve(forecast))) return { ...NOTHING, requests: provider.client.requests };
        const nested = await readGrants(reading, services, (open) => log.reading(open));
        const contents: AccountContents = {
          objects: new Map([...flat.objects, ...nested.objects]),
          plans: flat.plans,
          unread: [...flat.unread, ...nested.unread, ...(reading.settings.moneyScale === undefined ? [UNIT] : [])],
        };
        const known = settled(contents, knownFor);
        const made = await proved({
          hasTemplates: format === "yaml",
          contents,
          known,
          standing,
          project,
          alias,
          account: reading,
          state: before,
          source,
          hides: (text) => redaction.redact(text) !== text,
          now: host.clock.now(),
        });
        const { declared } = made;
        const isSame = [declared.blocks, declared.entries].every(({ length }) => length === 0);
        const written = { ...made, blocks: declared.blocks, before: configured, state: before, source };
        const texts = isSame ? standing.texts : await language.textsOf(written);
        const changes = fileChanges(standing, configured, texts, source.dir);
        if (options.dryRun !== true) {
          await writeFiles(changes, async () => {
            const mark = marking(new Map([[alias, identityOf(reading)]]), before);
            await Promise.all(made.records.map((record) => store.put(mark(recordIn(language, record)))));
          });
          isDone = true;
        }
        const isFirst = standing.desired === undefined && before.resources.size === 0;
        const unlisted = known.declared.flatMap(({ address, type, config, isRecorded, importId }) =>
          kinds.get(type)?.list !== undefined || isRecorded || importId !== undefined
            ? []
            : `${address}: no list of the API shows it. ${yamlRemedies({ address, remedies: [{ do: "import", id: String(config.domain ?? "ID"), when: "the account has it, import it before the next apply" }] })}`,
        );
        const objects = countOf(made.adopts.map(({ kind }) => kind.type));
        return {
          approved: true,
          objects,
          files: changes.map(({ file: changed, before: old, text }) => {
            return { file: path.relative(source.cwd, changed), isNew: old === undefined, text };
          }),
          left: [...made.left, ...(flat.ended ?? []), ...unlisted, ...stray],
          unknown: [...contents.unread, ...unknownOf(objects)],
          // Declarations in other languages are not part of the plan.
          otherChanges: format === "yaml" ? made.otherChanges : 0,
          requests: provider.client.requests,
          isFirst,
        };
      } finally {
        await kept.close();
        if (isDone) await kept.remove();
      }
    }),
  );
}

const NOTHING = { approved: false, objects: {}, files: [], left: [], unknown: [], otherChanges: 0, isFirst: true };

async function languageOf(format: AdoptFormat): Promise<Language> {
  if (format === "yaml") return yaml;
  if (format === "hcl") return (await import("./hcl.ts")).hcl;
  return (await import("./program.ts")).programFor(format);
}

/** Rejects pending creations, because an adoption would declare their objects a second time. */
function refusePending({ resources }: State): void {
  const pending = [...resources.values()].filter(isPendingCreate).map(({ address }) => address);
  if (pending.length === 0) return;
  const names = pending.map(escapeLine).join(", ");
  raise("plan.pending/adoption", { names, address: pending[0] });
}

const UNIT = "The unit of amounts. If the API counts in cents, set `money_scale: 2` in the provider's settings.";

/**
 * Resolves the ids and domains in the file of clients. @returns service id -> client, and one sentence for each unknown
 * key.
 */
function clientsOf(given: ReadonlyMap<string, string>, listed: ReadonlyMap<string, Remote>, file = "") {
  const byDomain = Map.groupBy(listed.values(), ({ attributes }) => foldedDomain(attributes.domain));
  const clients = new Map<string, string>();
  const stray: string[] = [];
  for (const [key, client] of given) {
    const own = listed.get(key);
    const services = own !== undefined ? [own] : (byDomain.get(foldedDomain(key)) ?? []);
    for (const { id } of services) if (id === key || !given.has(id)) clients.set(id, client);
    if (services.length === 0)
      stray.push(`service ${key}: ${file} names it, but the account has no service with this id or domain.`);
  }
  return { clients, stray };
}

async function pairsOf(cwd: string, file: string | undefined) {
  if (file === undefined) return [];
  const fix = "Check the path and its permissions. A spreadsheet saves such a file as `CSV UTF-8`.";
  return readPairs(await textOf(path.resolve(cwd, file), file, fix, { streams: true }), file);
}

/** Reads a text file. @throws HostformError `usage` with the reason, such as the position of an invalid UTF-8 byte. */
const textOf = (file: string, shown: string, fix: string, reading: Reading): Promise<string> =>
  read(file, reading)
    .then(utf8)
    .catch((error: unknown) => fail("usage", `${shown} cannot be read: ${fileFailure(error)}`, { remedies: [fix] }));

/** Reads the existing declaration. @throws HostformError for its mistakes. */
async function standingAt({ source, declaration, log }: Project): Promise<Standing> {
  const { desired, diagnostics } = await declaration.check();
  const ignoring = path.join(source.dir, ".gitignore");
  const fix = "Save it as UTF-8.";
  const bounds = { roots: [source.dir], links: false };
  const ignored = exists(ignoring) ? await textOf(ignoring, ".gitignore", fix, bounds) : undefined;
  if (diagnostics.length > 0 && diagnostics.every(({ code }) => code === "config.missing")) {
    return { desired: undefined, texts: new Map(), ignored };
  }
  if (desired === undefined) throw new HostformError(diagnostics);
  log.warn(...diagnostics);
  const files = desired.files.map((file) => path.resolve(source.cwd, file));
  const texts = await Promise.all(files.map(async (file) => [file, utf8(await read(file))] as const));
  return { desired, texts: new Map(texts), ignored };
}

/** Returns the services that may be declared or in the state. Only their grants are read. */
function declaredAmong(services: readonly Remote[], { declared, recorded }: Known): readonly Remote[] {
  const own = declared.filter(({ type }) => type === service.type);
  return services.filter(
    ({ id, attributes }) =>
      recorded.has(`${service.type} ${id}`) ||
      own.some(({ config, importId }) => importId === id || (importId === undefined && mayBe(config, attributes))),
  );
}

const mayBe = (config: ValueObject, attributes: JsonObject) =>
  service.naturalKey(config) === undefined
    ? service.naturalKey(attributes) === undefined
    : matches(service, config, attributes);

function forecastOf(
  { objects }: AccountContents,
  services: readonly Remote[],
  { client }: Provider,
  kept: KeptLists,
  now: number,
): Forecast {
  const open = services.filter(({ id }) => kept.get(`grants of ${id}`) === undefined).length;
  const budget = client.requestsPerMinute;
  const left = Math.max(0, budget - client.requests);
  return {
    objects: countOf([...objects].flatMap(([type, { length }]) => Array.from({ length }, () => type))),
    requests: client.requests + open,
    open,
    seconds: secondsFor(open, { left, of: budget, until: 0, isPause: false }, now),
  };
}

const countOf = (types: readonly string[]) =>
  Object.fromEntries(
    [...Map.groupBy(types, (type) => type)].map(([type, { length }]) => [kinds.get(type)?.noun ?? type, length]),
  );

/** Returns the declared objects and the objects in the state. */
function knownOf(
  { desired, texts }: Standing,
  state: State,
  alias: string,
  env: ProjectSource["env"],
  inUse: readonly string[],
  found: Known["found"],
): Omit<Known, "names" | "clients" | "language"> {
  const scope = scopeOf((address) => state.resources.get(address)?.attributes ?? found.get(address), env);
  const resources = desired?.resources ?? [];
  const recorded = [...state.resources.values()].flatMap(({ address, provider, attributes }): [string, string][] => {
    const kind = kindAt(address);
    if (kind === undefined || provider !== alias || typeof attributes.id !== "string") return [];
    return [[`${kind.type} ${importIdOf(kind, attributes.id, attributes)}`, address]];
  });
  return {
    found,
    recorded: new Map(recorded),
    declared: resources.flatMap((resource) => {
      const kind = kinds.get(resource.type);
      if (kind === undefined || resource.provider !== alias) return [];
      const { address, type, importId } = resource;
      const { config } = resolveConfig(kind, resource, scope);
      return [{ address, type, config, isRecorded: state.resources.has(address), importId }];
    }),
    addresses: new Set([...resources.map(({ address }) => address), ...state.resources.keys(), ...inUse]),
    waiting: new Set([...texts.values()].flatMap((text) => [...text.matchAll(CHOOSE)].map(([, id = ""]) => id))),
  };
}

function fileChanges(
  { desired, texts, ignored }: Standing,
  configured: Texts,
  after: Texts,
  dir: string,
): FileChange[] {
  const before = new Map([...texts, ...configured]);
  const changes = [...after].map(([file, text]) => ({ file, before: before.get(file), text }));
  const changed = changes.filter(({ before: old, text }) => old !== text);
  const ignoring = { file: path.join(dir, ".gitignore"), before: ignored, text: gitignoreWith(ignored ?? "") };
  const isNew = changed.length > 0 && desired === undefined && ignoring.text !== ignored;
  return isNew ? [...changed, ignoring] : changed;
}

/** Returns sentences about values that no API response contains (§2 Gaps). */
function unknownOf({
  webhook = 0,
  service = 0,
  "migration request": migration = 0,
}: Readonly<Record<string, number>>): string[] {
  const sentences: readonly [count: number, sentence: string][] = [
    [
      webhook,
      "The signing secrets of webhooks: the API returns each secret only when the webhook is created. Receivers keep their secrets.",
    ],
    [service, "The coupons of orders, and generated passwords of servers."],
    [migration, "The questions of migration requests."],
    [
      1,
      "Registrations of domains: the API has no list of them. Declare them under `domains`, with `import`, if you want them in the files.",
    ],
  ];
  return sentences.flatMap(([count, sentence]) => (count > 0 ? [sentence] : []));
}
