/** A user who runs the same command again until it is quiet, and does what the messages say. */
import { isRefusal, type Said } from "../support/terraform-core-wire.ts";
import type { Course } from "./terraform-courses.ts";
import { type Subject, saysLost } from "./terraform-life.ts";

/** Commands after which a user has had enough. */
const PATIENCE = 5;

const text = ({ summary, detail }: Said) => `${summary}\n${detail}`;

/** What the machine still has of the command that went wrong. */
export interface Remains {
  readonly store: boolean;
}

/**
 * Runs the course's command until it ends well and the next plan has nothing to do and nothing to say.
 * @throws when that does not come, when it asks for what the store should have spared the user, or more than once for the
 *   same.
 */
export async function untilSettled(subject: Subject, course: Course, remains: Remains): Promise<void> {
  const { core, address, kind } = subject;
  const asked = new Set<string>();
  for (let run = 1; run <= PATIENCE; run++) {
    // The second time nobody asks for what has been done: only the first run is the same command.
    const { errors } = await core.run(course.declared(subject), run === 1 ? course.options : {});
    if (errors.length === 0 && (await isQuiet(subject, course, remains))) return;
    const { pending } = (core.state.current.has(address) ? core.private(address) : {}) as { pending?: unknown };
    if (kind.creation === "blind" && pending !== undefined) {
      await settleAsUser(subject);
      continue;
    }
    for (const error of errors) {
      const question = text(error);
      if (asked.has(question)) throw new Error(`refused again: ${question}`);
      asked.add(question);
      // Once the key of an object without a name is too old, only the user knows whose it is.
      const { config = {} } = course.declared(subject)[address] ?? {};
      if (!remains.store || kind.naturalKey(config) === undefined) await doAsTold(subject, question);
    }
  }
  throw new Error(`not settled after ${PATIENCE} commands`);
}

async function isQuiet(subject: Subject, course: Course, { store }: Remains): Promise<boolean> {
  const { changes, said } = await subject.core.plan(course.declared(subject));
  // A secret that the lost machine got stays unknown, and each plan says so until its object is replaced.
  const news = store ? said : said.filter((one) => !saysLost(one));
  return news.length === 0 && changes.every(({ action }) => action === "no-op");
}

/** Without the store the account is all there is: what the plan finds there is imported. */
async function doAsTold(subject: Subject, question: string): Promise<void> {
  const { core, address, kind } = subject;
  const [, offered] = /(?:terraform import \S+|--adopt) '([^']+)'/.exec(question) ?? [];
  // A registration is shown nowhere: only the API's own refusal proves it.
  const id = offered ?? (kind.creation === "blind" ? String(subject.made()[0]) : undefined);
  if (id === undefined) return;
  core.forget(address);
  await importAs(subject, id);
}

/** Nothing shows whether a registration was carried out: the user looks at the dashboard. */
async function settleAsUser(subject: Subject): Promise<void> {
  const [id] = subject.made();
  subject.core.forget(subject.address);
  if (id === undefined) await subject.machine.resolveAbsent(subject.kind.type);
  else await importAs(subject, String(id));
}

async function importAs({ core, address, kind }: Subject, id: string): Promise<void> {
  const refused = (await core.import(address, kind.type, id)).filter(isRefusal);
  if (refused.length > 0) throw new Error(`the import is refused: ${refused.map(text).join("\n")}`);
}
