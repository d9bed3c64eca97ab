/**
 * `hostform resolve` in a folder of the real Terraform: the state records the user's decision, and the next apply
 * follows it.
 */
import { readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { sampled } from "../reliability/support/long.ts";
import { type BackendUnderTest, CREDENTIALS, httpBackend } from "../support/backends.ts";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { startTerraform, type Terraform, type TerraformOptions } from "../support/terraform.ts";

interface Subject {
  readonly type: string;
  readonly list: "grants" | "services" | "domains";
  readonly path: string;
  declared(...names: string[]): string;
  /** The attribute that distinguishes the objects of the account. */
  readonly key: "email" | "domain";
}

const blocks = (type: string, body: (name: string) => string) => (names: readonly string[]) =>
  names.map((name) => `resource "${type}" "${name}" {\n${body(name)}\n}\n`).join("");

const SITE = blocks("hosting_service", () => 'plan_id = 11\ncurrency = "USD"\ndomain = "site.example"')(["site"]);
const grants = blocks("hosting_grant", (name) =>
  `service_id = hosting_service.site.id\nemail = "${name}.example"\npermission = "view"`.replace(".ex", "@acme.ex"),
);
const services = blocks("hosting_service", (name) => `plan_id = 11\ncurrency = "USD"\ndomain = "${name}.example"`);
const domains = blocks(
  "hosting_domain",
  (name) => `domain = "${name}.example"
years = 1
currency = "USD"
nameserver_mode = "default"
registrant_contact = {
  first_name = "Ana"
  last_name = "Acme"
  email = "ana@acme.example"
  phone = "+995 555 000000"
  address = "1 Rustaveli Ave"
  city = "Tbilisi"
  postcode = "0108"
  country = "GE"
}`,
);

const SUBJECTS: readonly Subject[] = [
  {
    type: "hosting_grant",
    list: "grants",
    path: "/services/:id/grants",
    declared: (...names) => SITE + grants(names),
    key: "email",
  },
  {
    type: "hosting_service",
    list: "services",
    path: "/services",
    declared: (...names) => services(names),
    key: "domain",
  },
  { type: "hosting_domain", list: "domains", path: "/domains", declared: (...names) => domains(names), key: "domain" },
];

interface TwoPending {
  readonly terraform: Terraform;
  /** Addresses of the two creates: the first create produced an object, the second create none. */
  readonly made: string;
  readonly lost: string;
  /** Ids of the object of `made`, and of an object at another address. */
  readonly id: string;
  readonly held: string;
}

const named = ({ control }: Terraform, { list, key }: Subject) =>
  new Map(
    control.list(list).map((one) => [String(one[key as keyof typeof one]).replace(/[@.].*/, ""), String(one.id)]),
  );

async function twoPending(
  subject: Subject,
  options: TerraformOptions = {},
  prepare?: (terraform: Terraform) => Promise<void>,
): Promise<TwoPending> {
  // From the first create on, each read of the list fails.
  const unreadable = { method: "GET", path: subject.path, phase: "before", status: 503, times: 999 } as const;
  const sleep = async () => void terraform.control.addFault(unreadable);
  const terraform: Terraform = await startTerraform({ install: "running", sandbox: { sleep }, ...options });
  await prepare?.(terraform);
  await terraform.write(subject.declared("c"));
  await terraform.applied();
  await terraform.write(subject.declared("c", "a", "b"));
  const fault = { method: "POST", path: subject.path, drop: true } as const;
  terraform.control.addFault({ ...fault, phase: "after", nth: 1, delayMs: 1 });
  terraform.control.addFault({ ...fault, phase: "before", times: 999 });
  const applied = await terraform.apply();
  expect(applied.code, applied.text).toBe(1);
  terraform.control.clearFaults();
  const found = named(terraform, subject);
  const [made = "", lost = ""] = found.has("a") ? ["a", "b"] : ["b", "a"];
  terraform.believeLists();
  terraform.sent();
  const [id, held] = [found.get(made) ?? "", found.get("c") ?? ""];
  return { terraform, made: `${subject.type}.${made}`, lost: `${subject.type}.${lost}`, id, held };
}

/** Prepares a folder whose state is at a backend. */
const at =
  ({ type, settings }: BackendUnderTest, more = "") =>
  async (terraform: Terraform): Promise<void> => {
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
    await terraform.write(`terraform {\n  backend "${type}" {\n${[...lines, more].join("\n")}\n  }\n}\n`, "backend.tf");
    await terraform.write("");
    await terraform.init();
  };

/** Fails unless each declared name has one object, and each create that the user called absent sent one request. */
async function expectEnd(terraform: Terraform, subject: Subject, posts: number): Promise<void> {
  await terraform.applied();
  expect(terraform.changesSent().map((line) => line.split(" ")[0])).toEqual(
    Array.from({ length: posts }, () => "POST"),
  );
  const names = [...named(terraform, subject).keys()].filter((name) => ["a", "b", "c"].includes(name));
  expect(names.toSorted()).toEqual(["a", "b", "c"]);
  terraform.believeLists();
  await terraform.expectNoChanges();
}

describeWith(TERRAFORM)("hostform resolve in a folder of Terraform", { timeout: 120_000 }, () => {
  it.each(sampled(SUBJECTS, 2, 1))(
    "lists the pending creates, refuses wrong ids, and settles each as the user says ($type)",
    async (subject) => {
      const { terraform, made, lost, id, held } = await twoPending(subject, {}, async (one) => {
        one.control.seedServices({ count: 1 });
      });
      const listed = await terraform.hostform("resolve");
      expect(listed.code, listed.text).toBe(1);
      for (const address of [made, lost]) expect(listed.out).toContain(address);
      expect(terraform.state().get(made)?.status).toBe("tainted");

      const before = readFileSync(path.join(terraform.dir, "terraform.tfstate"), "utf8");
      if (subject.type !== "hosting_domain") {
        const unknown = await terraform.hostform("resolve", made, "--adopt", "999999");
        expect(unknown.code, unknown.text).toBe(1);
      }
      if (subject.type === "hosting_service") {
        const older = await terraform.hostform("resolve", made, "--adopt", "1003");
        expect(older.code, older.text).toBe(1);
        expect(older.text).toContain("It existed before the request was sent.");
        expect(older.text).toContain("`terraform import hosting_service.NAME");
        expect(listed.out).toContain("`terraform apply`");
      }
      const taken = await terraform.hostform("resolve", made, "--adopt", held);
      expect(taken.code, taken.text).toBe(1);
      expect(taken.text).toContain(`it is already in the state, as ${subject.type}.c`);
      const stranger = await terraform.hostform("resolve", `${subject.type}.c`, "--absent");
      expect(stranger.code, stranger.text).toBe(1);
      expect(readFileSync(path.join(terraform.dir, "terraform.tfstate"), "utf8")).toBe(before);

      const adopted = await terraform.hostform("resolve", made, "--adopt", id);
      expect(adopted.code, adopted.text).toBe(0);
      expect(terraform.state().get(made)?.status).toBe("");
      expect(terraform.state().get(lost)?.status, "the other one stays marked").toBe("tainted");
      const absent = await terraform.hostform("resolve", lost, "--absent");
      expect(absent.code, absent.text).toBe(0);
      expect(terraform.state().has(lost)).toBe(false);
      const none = await terraform.hostform("resolve");
      expect(none.code, none.text).toBe(0);
      expect(terraform.changesSent()).toEqual([]);

      const plan = await terraform.planned();
      expect(plan.changes).toEqual({ [lost]: "create" });
      await expectEnd(terraform, subject, 1);
    },
  );

  it.each(sampled(SUBJECTS, 3, 1))(
    "settles creates that only the store of the machine has ($type)",
    async (subject) => {
      const { terraform, made, lost, id } = await twoPending(subject);
      await terraform.well("state", "rm", made, lost);
      const listed = await terraform.hostform("resolve", "--json");
      const addresses = (JSON.parse(listed.out) as { address: string }[]).map(({ address }) => address);
      expect(addresses).toHaveLength(2);
      const of = (name: string) => addresses.find((one) => one.includes(name.split(".")[1] ?? "")) ?? "";
      const nameOf = (address: string) => `"${address.slice(-1)}`;
      const [first = "", second = ""] = [made, lost].map(
        (address) =>
          addresses.find((one) => one.includes(nameOf(address)) || one.includes(` ${address.slice(-1)}@`)) ??
          of(address),
      );
      const adopted = await terraform.hostform("resolve", first, "--adopt", id);
      expect(adopted.code, adopted.text).toBe(0);
      const absent = await terraform.hostform("resolve", second, "--absent");
      expect(absent.code, absent.text).toBe(0);
      await expectEnd(terraform, subject, 1);
    },
  );

  it("shows money and waits as the provider block says", async () => {
    const [, subject] = SUBJECTS as [Subject, Subject];
    const settings = 'provider "hosting" {\n  list_lag = "5m"\n  money_scale = 2\n}\n';
    const { terraform, lost } = await twoPending(subject, {}, (one) => one.write(settings, "provider.tf"));
    const { out, text } = await terraform.hostform("resolve", "--json");
    const evidence = JSON.parse(out) as { address: string; verdict: string; invoices: { money_scale: unknown }[] }[];
    const scales = evidence.flatMap(({ invoices }) => invoices.map(({ money_scale }) => money_scale));
    expect(new Set(scales), text).toEqual(new Set([2]));
    // The request is two minutes old.
    expect(evidence.find(({ address }) => address === lost)?.verdict).toBe("waiting");
  });

  it("settles with the state of a workspace alone, on a machine that has not seen the create, and not where a declaration is", async () => {
    const [subject] = SUBJECTS as [Subject];
    const { terraform, made, lost, id } = await twoPending(subject, {}, async (one) => {
      await one.well("workspace", "new", "eu");
    });
    rmSync(terraform.stateHome, { recursive: true });
    await terraform.write("project: acme\n", "hosting.yaml");
    const declared = await terraform.hostform("resolve");
    expect(declared.code, declared.text).toBe(0);
    expect(declared.text).toContain("Nothing is pending.");
    await terraform.remove("hosting.yaml");
    expect((await terraform.hostform("resolve", made, "--adopt", id)).code).toBe(0);
    expect((await terraform.hostform("resolve", lost, "--absent")).code).toBe(0);
    const text = readFileSync(path.join(terraform.dir, "terraform.tfstate.d/eu/terraform.tfstate"), "utf8");
    expect(text).toContain(`"id": "${id}"`);
    await expectEnd(terraform, subject, 1);
  });

  it("settles a create of a state at a backend", async () => {
    const [, subject] = SUBJECTS as unknown as [Subject, Subject];
    const backend = await httpBackend("plain");
    const { terraform, made, lost, id } = await twoPending(subject, { env: backend.env }, at(backend));
    const adopted = await terraform.hostform("resolve", made, "--adopt", id);
    expect(adopted.code, adopted.text).toBe(0);
    expect(adopted.text).not.toContain(CREDENTIALS.password);
    expect((await terraform.hostform("resolve", lost, "--absent")).code).toBe(0);
    await expectEnd(terraform, subject, 1);
    await backend.close();
  });

  it("leaves the verdict to the next apply where hostform cannot write the state", async () => {
    const [, subject] = SUBJECTS as unknown as [Subject, Subject];
    const backend = await httpBackend("plain");
    const unwritable = at(backend, "skip_cert_verification = true");
    const { terraform, made, lost, id } = await twoPending(subject, { env: backend.env }, unwritable);
    const listed = JSON.parse((await terraform.hostform("resolve", "--json")).out) as { address: string }[];
    const [first, second] = [made, lost].map((name) => `hosting_service._["${name.slice(-1)}.example"]`);
    expect(listed.map(({ address }) => address).toSorted()).toEqual([first, second].toSorted());
    const adopted = await terraform.hostform("resolve", first ?? "", "--adopt", id);
    expect(adopted.code, adopted.text).toBe(0);
    expect(adopted.text).toContain("The next apply on this machine writes the decision to the state.");
    const absent = await terraform.hostform("resolve", second ?? "", "--absent", "--json");
    expect(JSON.parse(absent.out)).toEqual({ format_version: "1.0", address: second, settled: "absent", stored: true });
    await expectEnd(terraform, subject, 1);
    await backend.close();
  });

  it.each([
    ["before", false],
    ["after", true],
  ] as const)("the next apply obeys a verdict whose run ended right %s the state was written", async (_, isWritten) => {
    const [, subject] = SUBJECTS as unknown as [Subject, Subject];
    const backend = await httpBackend("plain");
    const { terraform, made, lost, id } = await twoPending(
      subject,
      { env: { ...backend.env, HOSTFORM_STATE_TIMEOUT: "1s" } },
      at(backend),
    );
    // The store records the verdict, but the state does not receive it.
    for (const verdict of [
      [made, "--adopt", id],
      [lost, "--absent"],
    ]) {
      backend.server.fault = (line) => (/^(?:POST|PUT) /.test(line) ? { broken: "before" } : undefined);
      const { code, text } = await terraform.hostform("resolve", ...verdict);
      expect(code, text).toBe(1);
      backend.server.fault = () => undefined;
    }
    // The state has the verdict, but the store keeps its entry.
    if (isWritten) await terraform.well("state", "rm", lost);
    await expectEnd(terraform, subject, 1);
    await backend.close();
  });

  it("settles a create inside of a module", async () => {
    const [, subject] = SUBJECTS as unknown as [Subject, Subject];
    const inModule: Subject = { ...subject, declared: () => 'module "sites" {\n  source = "./sites"\n}\n' };
    const requirement =
      'terraform {\n  required_providers {\n    hosting = {\n      source = "hostform/hosting"\n    }\n  }\n}\n';
    const terraform = await startTerraform({ install: "running" });
    await terraform.write(inModule.declared());
    await terraform.write(requirement, "sites/versions.tf");
    await terraform.write(subject.declared("a"), "sites/main.tf");
    await terraform.init();
    terraform.control.addFault({ method: "POST", path: subject.path, phase: "before", drop: true, times: 999 });
    expect((await terraform.apply()).code).toBe(1);
    terraform.control.clearFaults();
    terraform.believeLists();
    terraform.sent();
    const address = 'hosting_service._["a.example"]';
    expect((await terraform.hostform("resolve")).out).toContain(address);
    const absent = await terraform.hostform("resolve", address, "--absent");
    expect(absent.code, absent.text).toBe(0);
    await terraform.applied();
    expect(terraform.changesSent()).toEqual(["POST /services"]);
    terraform.believeLists();
    await terraform.expectNoChanges();
  });
});
