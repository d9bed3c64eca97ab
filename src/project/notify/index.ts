/**
 * Sends notifications about the runs of a project. In: plans, results and errors. Out: one message for each channel, and
 * warnings about channels that fail. Must not: change an exit code, run for an untrusted project, send news of one cause twice,
 * or delay the end of a run after Ctrl-C.
 */
import { isLoopback } from "../../core/api/address.ts";
import { endOfErrors } from "../../core/files/index.ts";
import { type Channel, childEnvironment, type Desired, formatOf, isError } from "../../core/model/index.ts";
import { diagnosticsOf } from "../failure.ts";
import { interruptible } from "../interrupt.ts";
import { problem, refuse } from "../messages.ts";
import type { Project } from "../project.ts";
import { withServers } from "../providers.ts";
import { learnVariable, leaving, leavingJson } from "../redaction.ts";
import { documentOf, type Message, textOf } from "./message.ts";
import { type Known, type News, newsOf, type Sighting } from "./news.ts";

/** Minimum time between two messages of a process, in milliseconds. The news in between are one message. */
const GROUP_MS = 60_000;
/** Time limit of a command, in milliseconds. */
const COMMAND_MS = 10_000;

/** Result of one channel. */
interface Delivery {
  /** Host of the URL, the program, or a variable without a URL. */
  readonly channel: string;
  /** Reason of a failure, as the end of a sentence. */
  readonly failure?: string | undefined;
  /** True if the channel may have received the message although it failed. */
  readonly isUnknown?: boolean | undefined;
}

/** Collects what runs see, and sends the news. */
export class Notifier {
  readonly #project: Project;
  readonly #seen: Sighting[] = [];
  #sentAt = Number.NEGATIVE_INFINITY;

  constructor(project: Project) {
    this.#project = project;
  }

  saw(sighting: Sighting): void {
    if (this.#project.source.untrusted !== true) this.#seen.push(sighting);
  }

  /** Sends the news, but not within one minute after a message unless `isLast`. Never throws: failures are warnings. */
  async deliver(isLast = false): Promise<void> {
    const { host, log } = this.#project;
    if (this.#seen.length === 0 || (!isLast && host.clock.monotonic() < this.#sentAt + GROUP_MS)) return;
    try {
      await interruptible(host, (signal) => this.#deliver(this.#seen.splice(0), signal));
    } catch (error) {
      const failed = diagnosticsOf(error).filter(({ code }) => code !== "interrupted");
      log.warn(failed.map(({ summary: failure }) => problem("notify.failed", { channel: "all channels", failure })));
    }
  }

  async #deliver(seen: readonly Sighting[], signal: AbortSignal): Promise<void> {
    const project = this.#project;
    const { host, redaction, log, source } = project;
    const desired = seen.findLast((one) => one.desired)?.desired ?? (await declared(project));
    if (desired === undefined || channelsOf(project, desired).length === 0) return;
    const { providers } = desired;
    await withServers(providers, project, signal, providers.keys(), async ([server]) => {
      if (server === undefined) return;
      const { store } = server;
      const list = `notify ${desired.project} ${source.stack?.name ?? source.environment?.name}`;
      const before: Known = new Map((await store.notes(list)).map(({ name, value }) => [name, value as never]));
      const known: Known = new Map(before);
      const news = seen.flatMap((one) => newsOf(one, known));
      if (news.length > 0) {
        this.#sentAt = host.clock.monotonic();
        const sent = await send(project, desired, news, signal);
        signal.throwIfAborted();
        log.warn(
          sent.flatMap(({ channel, failure }) => (failure ? problem("notify.failed", { channel, failure }) : [])),
        );
        // If every channel surely failed, the next run sends the news.
        if (sent.every(({ failure, isUnknown }) => failure && !isUnknown)) return;
      }
      const notes = [...known].map(([name, value]) => ({ list, name, value: redaction.redactValue(value) as never }));
      await store.note(
        notes.filter(({ name }) => !before.has(name)),
        { isDurable: false },
      );
      await store.forget([...before.keys()].filter((name) => !known.has(name)).map((name) => ({ list, name })));
    });
  }
}

/** Sends the news of one run. Never throws. */
export async function notify(project: Project, sighting: Sighting): Promise<void> {
  const notifier = new Notifier(project);
  notifier.saw(sighting);
  await notifier.deliver();
}

/** Sends the error of a command and throws it. Mistakes in the declaration and the command line are no news. */
export const failureNews =
  (project: Project) =>
  async (error: unknown): Promise<never> => {
    const isNews = /^(?!usage$|interrupted$|apply\.declined$|config\.|trust\.)/;
    const errors = diagnosticsOf(error).filter((one) => isError(one) && isNews.test(one.code));
    await notify(project, { errors });
    throw error;
  };

/** Sends a test notification to each channel. @throws HostformError `notify.failed` without a channel. */
export async function testChannels(project: Project): Promise<readonly Delivery[]> {
  const desired = await declared(project);
  if (!desired || channelsOf(project, desired).length === 0) refuse("notify.failed/none", {});
  const text = "this channel receives notifications";
  return interruptible(project.host, (signal) => send(project, desired, [{ event: "test", text }], signal));
}

/** Returns the declaration, even with mistakes in its resources. */
async function declared({ declaration }: Project): Promise<Desired | undefined> {
  const { desired, partial } = await declaration.read();
  return desired ?? partial;
}

/** Returns the declared channels, and the URLs and programs of the runner. */
function channelsOf({ source: { env } }: Project, { notify = [] }: Desired): readonly Channel[] {
  const { HOSTFORM_NOTIFY: text = "", HOSTFORM_NOTIFY_SECRET: secret } = env;
  const secret_env = secret && "HOSTFORM_NOTIFY_SECRET";
  const words = text.split(/\s+/).filter(Boolean);
  return [...notify, ...words.map((word) => (/^https?:/.test(word) ? { url: word, secret_env } : { command: [word] }))];
}

/** Sends news to all channels at the same time. */
function send(project: Project, desired: Desired, news: readonly News[], signal: AbortSignal): Promise<Delivery[]> {
  const { env, environment } = project.source;
  const message = { project: desired.project, environment: environment?.name, news };
  const tokens = [...desired.providers.values()].map(({ tokenEnv }) => tokenEnv);
  const sent = channelsOf(project, desired).map(async (channel): Promise<Delivery> => {
    const { command, url_env = "", url = env[url_env] ?? "" } = channel;
    const run = command
      ? mail(project, command, message, tokens, signal)
      : post(project, { ...channel, url }, message, signal);
    return { channel: command?.[0] ?? URL.parse(url)?.host ?? url_env, ...(await run) };
  });
  return Promise.all(sent);
}

async function mail(
  { source, host, redaction }: Project,
  command: readonly string[],
  message: Message,
  tokens: readonly (string | undefined)[],
  signal: AbortSignal,
) {
  const { failure, stderr } = await host.capture(command as [string], {
    cwd: source.dir,
    env: childEnvironment(source.env, tokens),
    input: `${leaving(textOf(message), redaction)}\n`,
    timeoutMs: COMMAND_MS,
    signal,
  });
  return { failure: failure && `it ${failure}. ${endOfErrors(stderr, "")}` };
}

async function post({ source, host, redaction }: Project, channel: Channel, message: Message, signal: AbortSignal) {
  const { url = "", secret_env: name = "" } = channel;
  const { [name]: secret } = source.env;
  const to = URL.parse(url);
  if (name && !secret) return { failure: `${name} is not set` };
  if (to?.protocol !== "https:" && !(to && (isLoopback(to) || source.insecureHttp)))
    return { failure: "its URL is not an https URL" };
  learnVariable(redaction, source.env, name);
  const { posterTo } = await import("./post.ts");
  const poster = posterTo(to, host.clock, source.env);
  const body = leavingJson(documentOf(channel, message, host.clock.now()), redaction);
  const type = formatOf(channel) === "cloudevents" ? "application/cloudevents+json" : undefined;
  const {
    status = 0,
    error,
    isUnknown,
  } = await poster.send(body, async () => secret, signal, type).finally(poster.close);
  return { failure: error ?? (status >= 200 && status < 300 ? undefined : `the server returned ${status}`), isUnknown };
}
