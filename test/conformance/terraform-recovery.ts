/** A user who repeats the same command until the plan is empty, and follows the messages. */
import { isRefusal, type Said } from "../support/terraform-core-wire.ts";
import type { Course } from "./terraform-courses.ts";
import { type Subject, saysLost } from "./terraform-life.ts";

/** Maximum number of commands of the user. */
const PATIENCE = 5;

const text = ({ summary, detail }: Said) => `${summary}\n${detail}`;

/** State of the machine after the failed command. */
export interface Remains {
  readonly store: boolean;
}

/**
 * Repeats the case's command until it succeeds and the next plan has no change and no diagnostic.
 * @throws if the run never settles, asks for something that the store should answer, or asks twice about the same
 * object.
 */
export async function untilSettled(subject: Subject, course: Course, remains: Remains): Promise<void> {
  const { core, address, kind } = subject;
  const asked = new Set<string>();
  for (let run = 1; run <= PATIENCE; run++) {
    // The second run is another command, because the user does not repeat completed steps.
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
      // If the key of an unnamed object has expired, only the user knows the object's owner.
      const { config = {} } = course.declared(subject)[address] ?? {};
      if (!remains.store || kind.naturalKey(config) === undefined) await doAsTold(subject, question);
    }
  }
  throw new Error(`not settled after ${PATIENCE} commands`);
}

async function isQuiet(subject: Subject, course: Course, { store }: Remains): Promise<boolean> {
  const { changes, said } = await subject.core.plan(course.declared(subject));
  // A secret of the lost machine stays unknown, and each plan reports this until the replacement of its object.
  const news = store ? said : said.filter((one) => !saysLost(one));
  return news.length === 0 && changes.every(({ action }) => action === "no-op");
}

/** Without the store, only the account has the objects: imports the objects that the plan finds. */
async function doAsTold(subject: Subject, question: string): Promise<void> {
  const { core, address, kind } = subject;
  const [, offered] = /(?:terraform import \S+|--adopt) '([^']+)'/.exec(question) ?? [];
  // No list shows a registration: only the API's rejection proves that it exists.
  const id = offered ?? (kind.creation === "blind" ? String(subject.made()[0]) : undefined);
  if (id === undefined) return;
  core.forget(address);
  await importAs(subject, id);
}

/** No response shows the outcome of a registration: the user checks the dashboard. */
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
