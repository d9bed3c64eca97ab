import { describe, expect, it } from "vitest";
import { startProject } from "../support/project.ts";

const site = (name: string, client?: string) => ({
  plan_id: 11,
  currency: "USD",
  domain: `${name}.example`,
  deletion_policy: "forget",
  ...(client !== undefined && { client }),
});
const services = { www: site("www", "acme"), shop: site("shop", "beta") };
/** Amounts in cents, and dates without a time. */
const pinned = { plan: ["plan_id", "id"], money: ["minor"] } as const;
interface Row {
  readonly id: string;
  readonly domain: string | null;
  readonly client: string | null;
  readonly due_date: string;
}

async function start() {
  const project = await startProject({ declare: { project: "acme", services }, pinned, sandbox: { autoPay: false } });
  await project.run("apply", "--auto-approve", "--no-wait");
  project.clock.advance(60_000);
  const listed = async (...flags: string[]): Promise<Row[]> => {
    const { code, out, text } = await project.run("invoices", "--json", ...flags);
    expect(code, text).toBe(0);
    return JSON.parse(out) as Row[];
  };
  const domains = async (...flags: string[]) => (await listed(...flags)).map(({ domain }) => domain).sort();
  return { project, listed, domains };
}

describe("invoices", () => {
  it("name the domain and the client of their service, and end with the sums", async () => {
    const { project, listed } = await start();
    expect(await listed("--client", "acme")).toMatchObject([{ domain: "www.example", client: "acme" }]);
    const { out } = await project.run("invoices");
    expect(out).toMatch(/www\.example +acme/);
    expect(out).toMatch(/\n2 invoices: \S+.* Unpaid: \S+.*\n$/);
    const unknown = await project.run("invoices", "--client", "ACME");
    expect(unknown.code).toBe(1);
    expect(unknown.text).toMatch(/No resource belongs to client:ACME.*Did you mean "acme"\?/s);
  });

  it("are selected by payment, due date and month", async () => {
    const { project, listed, domains } = await start();
    const [first] = await listed("--client", "acme");
    const month = first?.due_date.slice(0, 7) ?? "";
    expect(await domains("--overdue")).toEqual([]);
    expect(await domains("--unpaid")).toEqual(["shop.example", "www.example"]);
    expect(await domains("--month", month)).toEqual(["shop.example", "www.example"]);
    expect(await domains("--month", "2001-01")).toEqual([]);
    project.control.payInvoice(Number(first?.id));
    expect(await domains("--unpaid")).toHaveLength(1);
    project.clock.advance(20 * 86_400_000);
    expect(await domains("--overdue")).toHaveLength(1);
  });

  it("need the ability billing, and a valid month", async () => {
    const project = await startProject({ token: "viewer" });
    const refused = await project.run("invoices", "--unpaid");
    expect([refused.code, refused.text]).toEqual([1, expect.stringContaining("billing")]);
    const wrong = await project.run("invoices", "--month", "2026-13");
    expect([wrong.code, wrong.text]).toEqual([1, expect.stringContaining("Expected a month such as 2026-12")]);
  });
});
