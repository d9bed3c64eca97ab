import { holdersOf, identityOf } from "../core/engine/index.ts";
import { type Kind, kinds } from "../core/kinds/index.ts";
import {
  adopt,
  type Evidence,
  evidence,
  isPendingCreate,
  type PendingCreate,
  returnsSecretOnce,
  withdraw,
} from "../core/lifecycle/index.ts";
import { didYouMean, fail, inQuotes, parseAddress, resourceOf, type State } from "../core/model/index.ts";
import type { OpenState } from "../core/record/index.ts";
import { loadProviders } from "../project/project.ts";
import { Providers } from "../project/providers.ts";
import type { Project } from "../project/source.ts";
import { withState } from "../project/state.ts";
import { escapeLine, renderEvidence } from "../report/index.ts";
import { printJson, say, type Terminal } from "./terminal.ts";

interface ResolveFlags {
  /** The id of the object that the create made. */
  readonly adopt?: string;
  /** The create made nothing. */
  readonly absent?: boolean;
  /** Look again until the account shows one. */
  readonly wait?: boolean;
  /** How long, in milliseconds. */
  readonly waitTimeout?: number;
}

const WAIT_MS = 600_000;
const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;

/**
 * `hostform resolve [ADDRESS]`: shows what is known of creates without known outcome, and settles one. Sends GETs only,
 * asks nothing. Exit code 1 while any of those asked about is not settled.
 */
export async function runResolve(
  terminal: Terminal,
  project: Project,
  flags: ResolveFlags,
  address: string | undefined,
): Promise<number> {
  const settling = [flags.adopt !== undefined, flags.absent, flags.wait].filter(Boolean).length;
  if (settling > 1) fail("usage", "--adopt, --absent and --wait are three ways; give one");
  if (settling === 1 && address === undefined) {
    fail("usage", "Which one is to be settled?", { remedies: ["Give its address; `hostform resolve` lists them."] });
  }
  if (flags.adopt !== undefined && !/^[\x21-\x7e]{1,200}$/.test(flags.adopt)) {
    fail("usage", "--adopt needs an id, as the API or the invoice shows it", { remedies: ["Is a variable unset?"] });
  }
  if (flags.waitTimeout !== undefined && !flags.wait) fail("usage", "--wait-timeout goes with --wait");
  const configs = await loadProviders(project);
  return withState(project, "resolve", async (store, signal) => {
    const pending = pendingIn(store.state, address);
    const [one, ...others] = pending;
    if (one === undefined) return nothingPending(terminal);
    if (settling === 1 && others.length > 0) {
      fail("usage", `${address} names ${pending.length} pending resources; one at a time can be settled`, {
        remedies: [`Name one of ${pending.map((each) => `${inQuotes(each.address)}`).join(", ")}.`],
      });
    }
    if (flags.absent) return settleAbsent(terminal, store, one);
    const providers = new Providers(configs, project, { reading: signal });
    try {
      if (flags.adopt !== undefined) return await settleAdopted(terminal, store, providers, one, flags.adopt);
      if (flags.wait) return await waitFor(terminal, store, providers, one, flags.waitTimeout ?? WAIT_MS, signal);
      const found = [];
      for (const each of pending) found.push(await look(store.state, providers, each));
      show(terminal, found);
      return 1;
    } finally {
      await providers.close();
    }
  });
}

/** The creates without known outcome: all, or the one that an address names. */
function pendingIn(state: State, address: string | undefined): PendingCreate[] {
  const all = [...state.resources.values()].filter(isPendingCreate);
  if (address === undefined) return all;
  const named = all.filter((one) => one.address === address || resourceOf(one.address) === address);
  if (named.length > 0) return named;
  if (state.resources.has(address)) {
    fail("usage", `${address} is not pending: there is nothing to settle`, { address });
  }
  const known = all.map((one) => one.address);
  fail("plan.address", `The state has no resource ${address}.${didYouMean(address, known)}`, {
    remedies: ["`hostform resolve` lists what is pending."],
  });
}

function nothingPending(terminal: Terminal): number {
  if (terminal.json) printJson(terminal, []);
  else say(terminal, "Nothing is pending.");
  return 0;
}

async function look(state: State, providers: Providers, prior: PendingCreate): Promise<Evidence> {
  const kind = kindOf(prior);
  const { account } = await providers.use(prior.provider);
  const holders = holdersOf(state, kinds);
  return evidence({
    account,
    kind,
    prior,
    invoiced: kinds.get("hosting_service"),
    holder: ({ id, attributes }) => holders.get(identityOf(prior.provider, kind, { ...attributes, id }) ?? ""),
  });
}

function kindOf({ address }: PendingCreate): Kind {
  const kind = kinds.get(parseAddress(address)?.type ?? "");
  if (kind === undefined) fail("state.foreign", `${address} is of a kind that this version does not know`, { address });
  return kind;
}

function show(terminal: Terminal, found: readonly Evidence[]): void {
  if (terminal.json) printJson(terminal, found);
  else terminal.out(renderEvidence(found, terminal.clock.now(), terminal.outLook));
}

async function settleAbsent(terminal: Terminal, store: OpenState, prior: PendingCreate): Promise<number> {
  const kept = withdraw(prior);
  if (kept === undefined) await store.remove(prior.address);
  else await store.put(kept);
  tell(
    terminal,
    { address: prior.address, settled: "absent" },
    `${prior.address} was not made; the next apply makes it.`,
  );
  return 0;
}

async function settleAdopted(
  terminal: Terminal,
  store: OpenState,
  providers: Providers,
  prior: PendingCreate,
  id: string,
): Promise<number> {
  const { address } = prior;
  const kind = kindOf(prior);
  const { account } = await providers.use(prior.provider);
  const holders = holdersOf(store.state, kinds);
  const taken = holders.get(identityOf(prior.provider, kind, { ...prior.attributes, id }) ?? "");
  if (taken !== undefined)
    fail("usage", `Nothing was settled: ${kind.noun} ${id} is in the state already, as ${taken}`, { address });
  const adopted = await adopt(account, kind, prior, id);
  if (adopted === undefined) {
    fail("api.not_found", `Nothing was settled: ${kind.noun} ${id} does not exist`, {
      remedies: [`\`hostform resolve ${inQuotes(address)}\` shows the candidates.`],
      address,
    });
  }
  await store.put(adopted);
  const lost = returnsSecretOnce(kind, adopted.attributes)
    ? " Its secret was lost and cannot be recovered. For another one, remove the block, apply, put it back and apply again."
    : "";
  const text = `${address} is ${kind.noun} ${String(adopted.attributes.id)}.${lost}`;
  tell(terminal, { address, settled: "adopted", id: String(adopted.attributes.id) }, text);
  return 0;
}

/** Looks again until the account shows exactly one object that is certainly it. */
async function waitFor(
  terminal: Terminal,
  store: OpenState,
  providers: Providers,
  prior: PendingCreate,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<number> {
  const { clock } = terminal;
  const kind = kindOf(prior);
  if (kind.list === undefined) {
    fail("usage", `There is nothing to wait for: the API has no call that shows a ${kind.noun}`, {
      remedies: [`See \`hostform resolve ${inQuotes(prior.address)}\`, then --adopt ID or --absent.`],
      address: prior.address,
    });
  }
  const deadline = clock.now() + timeoutMs;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    const { account } = await providers.use(prior.provider);
    account.forget(kind, kind.parent && String(prior.attributes[kind.parent]));
    const found = await look(store.state, providers, prior);
    const [only] = found.candidates ?? [];
    if (found.verdict === "made" && only !== undefined) {
      return settleAdopted(terminal, store, providers, prior, only.id);
    }
    if (clock.now() + pause > deadline) {
      show(terminal, [found]);
      return 1;
    }
    await clock.sleep(pause, signal);
  }
}

function tell(terminal: Terminal, json: object, text: string): void {
  if (terminal.json) printJson(terminal, json);
  else terminal.out(`${escapeLine(text)}\n`);
}
