/** Commands for every kind during failures: the earlier declaration, the later declaration, and the expected end. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "vitest";
import type { Kind } from "../../src/core/kinds/index.ts";
import { attributesOf } from "../../src/core/lifecycle/index.ts";
import type { JsonObject } from "../../src/core/model/index.ts";
import type { Declarations, RunOptions } from "../support/terraform-core.ts";
import { type Subject, startMachine, subjectOf } from "./terraform-life.ts";

export interface Course {
  readonly name: string;
  /** Earlier declaration; absent: no resource. */
  readonly before?: (subject: Subject) => Declarations;
  readonly declared: (subject: Subject) => Declarations;
  /** True if the new object is created before the old object is deleted. */
  readonly createFirst?: boolean;
  readonly options?: Pick<RunOptions, "replace" | "destroy">;
  /** Objects of the sample that exist at the end. */
  readonly objects: number;
  /** True if one of the objects is in the state. */
  readonly recorded: boolean;
}

/** Returns the test cases of a kind. */
export function coursesOf(kind: Kind): readonly Course[] {
  const changeable = (how: string) =>
    attributesOf(kind).flatMap(({ name, meta }) => (meta.change === how ? [name] : []));
  const there = (subject: Subject) => subject.declared();
  const create: Course = { name: "create", declared: there, objects: 1, recorded: true };
  const updates = changeable("in-place").map(
    (name): Course => ({
      name: `change of ${name}`,
      before: there,
      declared: (subject) => subject.declared(subject.otherwise(name)),
      objects: 1,
      recorded: true,
    }),
  );
  const implied = kind.nested === undefined ? [] : [kind.nested.keyAttribute, kind.nested.parentAttribute];
  const replaces = changeable("replace")
    .filter((name) => !implied.includes(name))
    .flatMap((name) =>
      (kind.replacement === "create-first" ? [false, true] : [false]).map(
        (first): Course => ({
          name: `another ${name}${first ? ", create_before_destroy" : ""}`,
          createFirst: first,
          before: (subject) => subject.declared(subject.config(), first),
          declared: (subject) => subject.declared(subject.otherwise(name), first),
          objects: 1,
          recorded: true,
        }),
      ),
    );
  return [create, ...updates, ...replaces, ...removalsOf(kind), ...particularsOf(kind)];
}

function removalsOf(kind: Kind): Course[] {
  const end = (name: string, config: JsonObject, objects: number): Course => ({
    name,
    before: (subject) => subject.declared(subject.config(config)),
    declared: () => ({}),
    objects,
    recorded: false,
  });
  if (kind.removal === "delete") {
    const replaced = (first: boolean): Course => ({
      name: `-replace${first ? ", create_before_destroy" : ""}`,
      createFirst: first,
      before: (subject) => subject.declared(subject.config(), first),
      declared: (subject) => subject.declared(subject.config(), first),
      options: { replace: [`${kind.type}.sample`] },
      objects: 1,
      recorded: true,
    });
    return [end("delete", {}, 0), replaced(false), ...(kind.replacement === "create-first" ? [replaced(true)] : [])];
  }
  const forgotten = end("forget", { deletion_policy: "forget" }, 1);
  return kind.suspendSteps === undefined ? [forgotten] : [forgotten, end("suspend", { deletion_policy: "suspend" }, 1)];
}

const SERVER = { plan_id: 31, currency: "USD", reference: "server", deletion_policy: "suspend" };
const OUTPUT = { secret_output: { file: "secret.txt", env_file: null, command: null } };

/**
 * Additional cases of some kinds: one-time secrets, several requests in sequence, an order that replaces another
 * order.
 */
function particularsOf({ type }: Kind): Course[] {
  if (type === "hosting_webhook") {
    const declared = (subject: Subject) => subject.declared(subject.config(OUTPUT));
    return [
      { name: "create with secret_output", declared, objects: 1, recorded: true },
      {
        name: "secret_output for a secret of before",
        before: (s) => s.declared(),
        declared,
        objects: 1,
        recorded: true,
      },
    ];
  }
  if (type !== "hosting_service") return [];
  const server = (more: JsonObject) => (subject: Subject) => subject.declared({ ...SERVER, ...more });
  const course = (name: string, before: Course["before"], declared: Course["declared"], objects = 1): Course => ({
    name,
    ...(before && { before }),
    declared,
    objects,
    recorded: true,
  });
  const full = (subject: Subject) =>
    subject.declared(subject.config({ suspended: true, password: { env: "SAMPLE_PASSWORD" }, password_version: 1 }));
  return [
    course("create, then set the password and suspend", undefined, full),
    course("create with a generated password", undefined, server({ password_version: 1 })),
    course("a generated password", server({}), server({ password_version: 1 })),
    course("another generated password", server({ password_version: 1 }), server({ password_version: 2 })),
    course("a generated password written out", server({}), server({ password_version: 1, ...OUTPUT })),
    course("create with a generated password written out", undefined, server({ password_version: 1, ...OUTPUT })),
    course(
      "an order in place of another",
      server({}),
      server({ plan_id: 32, reference: "server-2", replace_on_change: true }),
      2,
    ),
  ];
}

/** Prepares a case up to the start of its command. */
export async function begin(kind: Kind, course: Course): Promise<Subject> {
  // Jobs end at once, because these tests do not cover waiting.
  const subject = await subjectOf(kind, await startMachine({ jobSeconds: 0 }));
  if (course.before !== undefined) await subject.apply(course.before(subject));
  subject.sent();
  // List lag has ended.
  subject.machine.clock.advance(60_000);
  return subject;
}

/**
 * Fails unless account, state and declaration agree, no secret is lost, and the store holds no entry.
 * @param alien maximum number of unknown objects, if neither state nor store recorded them.
 */
export async function expectSettled(
  subject: Subject,
  course: Course,
  { secrets = true, alien = 0 }: { secrets?: boolean; alien?: number } = {},
): Promise<void> {
  const { core, address } = subject;
  const made = subject.made();
  expect(made.length - course.objects, "objects too many").toBeGreaterThanOrEqual(0);
  expect(made.length - course.objects, "objects too many").toBeLessThanOrEqual(alien);
  expect([...core.state.current.keys()], "the state").toEqual(course.recorded ? [address] : []);
  expect(core.state.deposed.size, "deposed").toBe(0);
  if (!course.recorded) {
    expect(subject.machine.noted(), "the entries").toEqual([]);
    return;
  }
  // The private state keeps its origin and its name at creation, but no open step. Attributes that an import withholds,
  // and a declared suspension, are no open steps.
  const mark = core.private(address) as JsonObject;
  const origin = ["account", "host", "made", "created", "undeclared", "suspended"];
  expect(
    Object.keys(mark).filter((name) => !origin.includes(name)),
    "private",
  ).toEqual([]);
  if (subject.kind.list !== undefined) expect(core.attributes(address).id).toBe(String(made.at(-1)));
  await subject.expectNoChanges(course.declared(subject), secrets);
  // Terraform has proved by now that it recorded the object.
  expect(subject.machine.noted(), "the entries").toEqual([]);
  if (secrets) expectSecrets(subject);
}

/** Checks that the state or the secret output contains the one-time secret of the object. */
function expectSecrets({ core, address, machine, kind }: Subject): void {
  const attributes = core.attributes(address);
  const kept = (name: string): unknown => {
    const there = attributes[name];
    if (attributes.secret_output === null) return there;
    expect(there, `${name} left the state`).toBeNull();
    return readFileSync(path.join(machine.outputs, "secret.txt"), "utf8").trim();
  };
  if (kind.type === "hosting_webhook") {
    const live = machine.sandbox.control.get("webhooks", Number(attributes.id));
    expect(kept("secret"), "the secret").toBe(live.secret);
  }
  if (attributes.product_type !== "vps" || attributes.password_version === null) return;
  const last = machine.answers.findLast(({ path: url }) => url.endsWith(`/${attributes.id}/password`));
  const answer = JSON.parse(last?.body ?? "{}");
  const password = answer.password ?? answer.data?.password;
  expect(password).toEqual(expect.any(String));
  expect(kept("generated_password"), "the generated password").toBe(password);
}
