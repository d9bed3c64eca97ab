/**
 * A sequence of random declarations of one account. One apply converges in the fewest requests, and nobody loses
 * access that both declarations grant.
 */
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import fc, { runs } from "../support/fc.ts";
import { type Project, startProject } from "../support/project.ts";

const STEPS = runs(20);

const SITE = { plan_id: 11, currency: "USD", domain: "www.acme.example", deletion_policy: "forget" };
const STACK = ["--stack", "."] as const;

/** Declaration of an address: its natural key, and a value whose change needs a replacement. */
type Declared = Readonly<Record<string, { readonly key: string; readonly other: string }>>;

interface Subject {
  /** Collection in the sandbox. */
  readonly collection: "grants" | "webhooks" | "accounts";
  readonly others: readonly string[];
  /** Returns the resources of a stack. */
  resources(declared: Declared): object;
  /** Returns the natural key of an object in the account, and its other value. */
  shown(object: object): readonly [key: string, other: string];
}

const named = (declared: Declared, block: (one: Declared[string]) => object) =>
  Object.fromEntries(Object.entries(declared).map(([name, one]) => [name, block(one)]));

const subjects: Readonly<Record<string, Subject>> = {
  grants: {
    collection: "grants",
    others: ["view", "manage"],
    resources: (declared) => ({
      hosting_grant: named(declared, ({ key, other }) => ({
        service_id: "${hosting_service.www.id}",
        email: `${key}@acme.example`,
        permission: other,
      })),
    }),
    shown: (object) => {
      const { email, permission } = object as { email: string; permission: string };
      return [email.split("@")[0] ?? "", permission];
    },
  },
  webhooks: {
    collection: "webhooks",
    others: ["any"],
    resources: (declared) => ({
      hosting_webhook: named(declared, ({ key }) => ({
        url: `https://${key}.acme.example/`,
        events: ["invoice.paid"],
      })),
    }),
    shown: (object) => [new URL((object as { url: string }).url).hostname.split(".")[0] ?? "", "any"],
  },
};

/** A subset of the addresses, each with its own key. */
const declarations = ({ others }: Subject): fc.Arbitrary<Declared> =>
  fc
    .tuple(
      fc.subarray(["g0", "g1", "g2", "g3", "g4"]),
      fc.shuffledSubarray(["a", "b", "c", "d", "e"], { minLength: 5 }),
      fc.array(fc.constantFrom(...others), { minLength: 5, maxLength: 5 }),
    )
    .map(([addresses, keys, values]) =>
      Object.fromEntries(addresses.map((address, at) => [address, { key: keys[at] ?? "", other: values[at] ?? "" }])),
    );

async function declare(project: Project, resource: object): Promise<void> {
  const head = {
    provider: { hosting: [{ project: "keys" }] },
    terraform: { required_providers: { hosting: { source: "hostform/hosting" } } },
  };
  const text = JSON.stringify({ ...head, resource: { hosting_service: { www: SITE }, ...resource } });
  await writeFile(path.join(project.dir, "cdk.tf.json"), text);
}

const wanted = (declared: Declared) => new Map(Object.values(declared).map(({ key, other }) => [key, other]));

it.each(Object.keys(subjects))("%s converge in one apply and the fewest requests", async (name) => {
  const subject = subjects[name] as Subject;
  const project = await startProject();
  const live = () =>
    new Map(
      project.control.list(subject.collection).map((object): [string, { id: number; other: string }] => {
        const [key, other] = subject.shown(object);
        return [key, { id: object.id, other }];
      }),
    );
  await declare(project, {});
  await project.apply(...STACK);
  project.sent();
  let before: Declared = {};
  const step = async (next: Declared) => {
    const [was, will, had] = [wanted(before), wanted(next), live()];
    await declare(project, Object.keys(next).length === 0 ? {} : subject.resources(next));
    const ran = await project.apply("--allow-removals", ...STACK);
    const sent = project.changesSent();
    const has = live();
    expect(new Map([...has].map(([key, { other }]) => [key, other]))).toEqual(will);
    expect(project.control.list(subject.collection), "nothing is made twice").toHaveLength(will.size);
    const kept = [...will].filter(([key, other]) => was.get(key) === other).map(([key]) => key);
    for (const key of kept) expect(has.get(key)?.id, `${key} is the same object`).toBe(had.get(key)?.id);
    const [added, removed] = [will.size - kept.length, was.size - kept.length];
    expect(ran.out).toContain(`${added} added, 0 changed, ${removed} destroyed`);
    expect(sent.filter((line) => line.startsWith("POST"))).toHaveLength(added);
    expect(sent.filter((line) => line.startsWith("DELETE"))).toHaveLength(removed);
    const again = await project.run("plan", "--detailed-exitcode", ...STACK);
    expect(again.code, again.text).toBe(0);
    project.sent();
    before = next;
  };
  // All steps share one account, because each account costs a sandbox start.
  await fc.assert(fc.asyncProperty(declarations(subject), step), { numRuns: STEPS, endOnFailure: true });
});
