/**
 * Sends notifications about the runs of a project. In: plans, results and errors. Out: one message per channel, and warnings
 * about failed channels. Must not: change an exit code, run for an untrusted project, report one cause twice, or delay the
 * end of a run after Ctrl-C.
 */
import { randomUUID } from "node:crypto";
import { endOfErrors } from "../../core/files/index.ts";
import { type Channel, childEnvironment, type Desired, formatOf, isError, isLoopback } from "../../core/model/index.ts";
import { diagnosticsOf } from "../failure.ts";
import { interruptible } from "../interrupt.ts";
import { problem, raise } from "../messages.ts";
import type { Project } from "../project.ts";
import { withServers } from "../providers.ts";
import { learnVariable, leaving, leavingJson } from "../redaction.ts";
import { documentOf, type Message, textOf } from "./message.ts";
import { type Known, type News, newsOf, type Sighting } from "./news.ts";

export { channelList } from "../../fronts/yaml/index.ts";

/** Minimum time between two messages of a process, in milliseconds. News in this time are sent together. */
const GROUP_MS = 60_000;
/** Time limit of a command, in milliseconds. */
const COMMAND_MS = 10_000;

/** Result of one channel. */
interface Delivery {
  /**
   * Name of the channel: host of the URL, program, or the variable without a URL. Numbered if several channels have the same
   * name.
   */
  readonly channel: string;
  /** Reason of the failure. Completes a sentence. */
  readonly error?: string | undefined;
  readonly fix?: string | undefined;
  /** True if the channel failed but may have received the message. */
  readonly isUnknown?: boolean | undefined;
}

/** Collects the results of runs, and sends messages about their notable events. */
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

  /**
   * Sends the news. Waits at least one minute after the last message, unless `isLast`. Never throws: failures are warnings.
   */
  async deliver(isLast = false): Promise<void> {
    const { host, log } = this.#project;
    if (this.#seen.length === 0 || (!isLast && host.clock.monotonic() < this.#sentAt + GROUP_MS)) return;
    try {
      await interruptible(host, (signal) => this.#deliver(this.#seen.splice(0), signal));
    } catch (error) {
      const failed = diagnosticsOf(error).filter(({ code }) => code !== "interrupted");
      for (const { summary: failure, remedies = [] } of failed)
        log.warn(problem("notify.failed", { channel: "all channels", failure, fix: remedies }));
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
      const message = messageOf(project, desired, (time) => seen.flatMap((one) => newsOf(one, known, time)));
      const deliver = async (message: Message, only?: readonly string[]) => {
        this.#sentAt = host.clock.monotonic();
        const sent = await send(project, desired, message, signal, only);
        signal.throwIfAborted();
        const failed = sent.filter(({ error }) => error);
        for (const { channel, error: failure = "", fix = "" } of failed)
          log.warn(problem("notify.failed", { channel, failure, fix: [fix] }));
        return { sent, failed };
      };
      const retry = { list: `${list} again`, name: "message" };
      const [again] = await store.notes(retry.list);
      if (again) {
        const { channels, ...message } = again.value as never as Message & { readonly channels: readonly string[] };
        await deliver(message, channels);
        await store.forget([retry]);
      }
      if (message.news.length > 0) {
        const { sent, failed } = await deliver(message);
        // If every channel certainly failed, the next run sends the news again. Otherwise the message is repeated only for
        // the failed channels.
        if (sent.every(({ error, isUnknown }) => error && !isUnknown)) return;
        const value = redaction.redactValue({ ...message, channels: failed.map(({ channel }) => channel) }) as never;
        if (failed.length > 0) await store.note([{ ...retry, value }], { isDurable: false });
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

/**
 * Reports the error of a command as news, and throws it. Mistakes in the declaration or command line are no news. Errors of a
 * plan were reported already.
 */
export const failureNews =
  (project: Project) =>
  async (error: unknown): Promise<never> => {
    const isNews = /^(?!usage$|interrupted$|apply\.declined$|config\.|trust\.|plan\.held_back$)/;
    const errors = diagnosticsOf(error).filter((one) => isError(one) && isNews.test(one.code));
    await notify(project, { errors });
    throw error;
  };

/**
 * Sends a test notification to each channel.
 * @throws HostformError `notify.failed` without channels, and mistakes in the declaration.
 */
export async function testChannels(project: Project): Promise<readonly Delivery[]> {
  const { desired } = await project.declaration.load();
  if (channelsOf(project, desired).length === 0) raise("notify.failed/none", {});
  const text = "this channel receives notifications";
  const message = messageOf(project, desired, (at) => [{ event: "test", text, at }]);
  return interruptible(project.host, (signal) => send(project, desired, message, signal));
}

/** Returns the declaration, even if its resources have mistakes. */
async function declared({ declaration }: Project): Promise<Desired | undefined> {
  const { desired, partial } = await declaration.read();
  return desired ?? partial;
}

/** Returns the channels of the declaration, of the program and of HOSTFORM_NOTIFY. */
function channelsOf({ source: { env, channels = [] } }: Project, { notify = [] }: Desired): readonly Channel[] {
  const { HOSTFORM_NOTIFY: text = "", HOSTFORM_NOTIFY_SECRET: secret } = env;
  // An empty secret fails the message, so that no message is sent unsigned.
  const secret_env = secret === undefined ? undefined : "HOSTFORM_NOTIFY_SECRET";
  const words = text.split(/\s+/).filter(Boolean);
  return [
    ...notify,
    ...channels,
    ...words.map((word) => (/^\w+:\/\//.test(word) ? { url: word, secret_env } : { command: [word] })),
  ];
}

function messageOf(
  { source: { environment }, host }: Project,
  { project }: Desired,
  newsAt: (time: string) => readonly News[],
): Message {
  const time = new Date(host.clock.now()).toISOString();
  return { project, environment: environment?.name, id: randomUUID(), time, news: newsAt(time) };
}

/** Sends a message to all channels at the same time. @param only Names of channels. Default: all. */
async function send(
  project: Project,
  desired: Desired,
  message: Message,
  signal: AbortSignal,
  only?: readonly string[],
) {
  const { env } = project.source;
  const channels = channelsOf(project, desired);
  const secrets = [
    ...[...desired.providers.values()].map(({ tokenEnv }) => tokenEnv),
    ...channels.flatMap(({ url_env, secret_env }) => [url_env, secret_env]),
  ];
  const names = channels.map(
    ({ command, url_env = "", url = env[url_env] ?? "" }) => command?.[0] ?? URL.parse(url)?.host ?? (url_env || url),
  );
  const sent = channels.map(async (channel, at): Promise<Delivery[]> => {
    const name = names[at] ?? "";
    const own = names.indexOf(name) === names.lastIndexOf(name) ? name : `${name} (${at + 1})`;
    if (only?.includes(own) === false) return [];
    const { command } = channel;
    const run = command ? mail(project, command, message, secrets, signal) : post(project, channel, message, signal);
    return [{ channel: own, ...(await run) }];
  });
  return (await Promise.all(sent)).flat();
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
  if (!failure) return {};
  return { error: `it ${failure}. ${endOfErrors(stderr, "")}`, fix: "Check the program and its arguments." };
}

async function post({ source, host, redaction }: Project, channel: Channel, message: Message, signal: AbortSignal) {
  const { url_env = "", url = source.env[url_env] ?? "", secret_env: name = "" } = channel;
  const { [name]: secret } = source.env;
  const to = URL.parse(url);
  const unset = [!url && url_env, !secret && name].find(Boolean);
  if (unset) return { error: `${unset} is not set`, fix: `Set ${unset}.` };
  if (to?.protocol !== "https:" && !(to && (isLoopback(to) || source.insecureHttp)))
    return { error: "its URL is not an https URL", fix: "Use an https URL." };
  learnVariable(redaction, source.env, name);
  const { posterTo } = await import("./post.ts");
  const poster = posterTo(to, host.clock, source.env);
  const body = leavingJson(documentOf({ ...channel, url }, message), redaction);
  const type = formatOf(channel) === "cloudevents" ? "application/cloudevents+json" : undefined;
  const {
    status = 0,
    error,
    isUnknown,
  } = await poster.send(body, async () => secret, signal, type).finally(poster.close);
  if (error) return { error, isUnknown, fix: "Check the URL and the network." };
  return status >= 200 && status < 300
    ? {}
    : { error: `the server returned ${status}`, fix: "See the log of the receiver." };
}
