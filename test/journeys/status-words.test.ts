import { describe, expect, it } from "vitest";
import { type Project, startProject } from "../support/project.ts";
import { rewritingHost, withStatusWords } from "../support/rewriting-host.ts";

const WWW = "hosting_service.www";
const MINUTE_MS = 60_000;

/** Status words of a host. hostform knows its word for a live service, but not its word for a suspended service. */
const OWNERS: Readonly<Record<string, unknown>> = { active: "ACTIVE", suspended: "PARKED_BY_OWNER" };

const www = (more: object = {}, statusWords: object = {}) => ({
  project: "words",
  providers: { default: { status_words: statusWords } },
  services: { www: { plan_id: 11, currency: "USD", domain: "www.acme.example", ...more } },
});

/** A live service at a host with these words, in place of the sandbox's words. */
async function hosted(words: () => Readonly<Record<string, unknown>>, more: object = {}, statusWords: object = {}) {
  const project = await startProject({ declare: www(more, statusWords), pinned: { status: ["lower"] } });
  project.env.HOSTING_BASE_URL = await rewritingHost(project.sandbox.url, (answer) => withStatusWords(answer, words()));
  await project.apply();
  project.sent();
  return project;
}

const slept = async (project: Project, ...args: string[]) => {
  const before = project.clock.slept;
  const ran = await project.run(...args);
  return { ...ran, slept: project.clock.slept - before };
};

describe.each([["a word", OWNERS, "PARKED_BY_OWNER"]])(
  "a suspension after which the status is %s that is unknown",
  (_, words, word) => {
    const mapped = (phase: string) => `providers: { default: { status_words: { ${JSON.stringify(word)}: ${phase} } } }`;

    it("ends the waiting at once, names the word and what it should mean, and is no success", async () => {
      const project = await hosted(() => words);
      await project.declare(www({ suspended: true }));
      const ran = await slept(project, "apply", "--auto-approve");
      expect(ran.code, ran.text).toBe(1);
      expect(ran.slept).toBeLessThan(MINUTE_MS);
      expect(project.changesSent()).toEqual(["POST /services/1003/suspend"]);
      expect(ran.text).toContain(
        `Error: The account does not confirm the suspension of ${WWW}: its status ${JSON.stringify(word)} is unknown`,
      );
      expect(ran.text).toContain(mapped("suspended"));
      expect(ran.text).not.toContain(": live");
      expect(ran.text).toContain("Apply incomplete: 1 with an unknown status.");
      expect((await project.recorded(WWW))?.private.job).toMatchObject({ toward: "suspended", before: "ACTIVE" });
    });

    it.each([true, false])(
      "is shown by every plan and apply from then on, declared %s, until the word is mapped",
      async (wanted) => {
        const project = await hosted(() => words);
        await project.declare(www({ suspended: true }));
        await project.run("apply", "--auto-approve");
        await project.declare(www({ suspended: wanted }));
        project.sent();
        const planned = await project.run("plan", "--detailed-exitcode");
        expect(planned.code, planned.text).toBe(2);
        expect(planned.text).not.toContain("No changes");
        expect(planned.text).toContain(`its status ${JSON.stringify(word)} is unknown`);
        expect(planned.text).toContain("The request for the suspension was sent at 2026-");
        expect(planned.text).toContain(mapped("suspended"));
        expect(planned.text).not.toContain(": live");
        expect((await project.run("plan")).code).toBe(0);
        const again = await project.run("apply", "--auto-approve");
        expect(again.code, again.text).toBe(1);
        expect(again.text).toContain(mapped("suspended"));
        expect(again.text).not.toContain("complete!");
        const lines = (await project.run("apply", "--auto-approve", "--json")).out.trim().split("\n");
        expect(JSON.parse(lines.findLast((line) => line.includes('"change_summary"')) ?? "{}")).toMatchObject({
          hostform: { complete: false, unfulfilled: [WWW] },
        });
        expect((await project.run("watch", "--max-runs", "1", "--auto-approve")).code).toBe(1);
        expect(project.changesSent()).toEqual([]);
        await project.declare(www({ suspended: wanted }, { [word]: "suspended" }));
        await project.apply();
        expect(project.changesSent()).toEqual(wanted ? [] : ["POST /services/1003/unsuspend"]);
        expect((await project.recorded(WWW))?.private.job).toBeUndefined();
        await project.expectNoChanges();
      },
    );

    it("keeps what is destroyed under management until the word is mapped", async () => {
      const more = { deletion_policy: "suspend" };
      const project = await hosted(() => words, more);
      const first = await slept(project, "destroy", "--auto-approve");
      expect(first.code, first.text).toBe(1);
      expect(first.slept).toBeLessThan(MINUTE_MS);
      expect(first.text).toContain(mapped("suspended"));
      expect(await project.recorded(WWW)).toBeDefined();
      const second = await project.run("destroy", "--auto-approve");
      expect(second.code, second.text).toBe(1);
      expect(second.text).toContain(mapped("suspended"));
      expect(second.text).not.toContain("No changes");
      expect((await project.run("plan", "--destroy", "--detailed-exitcode")).code).toBe(2);
      expect(project.changesSent()).toEqual(["POST /services/1003/suspend"]);
      await project.declare(www(more, { [word]: "suspended" }));
      const last = await project.run("destroy", "--auto-approve");
      expect(last.code, last.text).toBe(0);
      expect(await project.recorded(WWW)).toBeUndefined();
      expect(project.changesSent()).toEqual([]);
    });
  },
);

describe("a status that is not understood", () => {
  it("after the end of a suspension should mean live", async () => {
    const words = { active: "BACK_ON_TRACK", suspended: "suspended" };
    const project = await hosted(() => words, { suspended: true }, { back_on_track: "live" });
    await project.declare(www({ suspended: false }));
    const ran = await slept(project, "apply", "--auto-approve");
    expect(ran.code, ran.text).toBe(1);
    expect(ran.slept).toBeLessThan(MINUTE_MS);
    expect(ran.text).toContain('providers: { default: { status_words: { "BACK_ON_TRACK": live } } }');
    await project.declare(www({ suspended: false }, { back_on_track: "live" }));
    await project.apply();
    await project.expectNoChanges();
  });

  it("does not slow a watch down: waiting does not fix it", async () => {
    const project = await hosted(() => ({ active: "OK_FINE" }));
    await project.declare(www({ suspended: false }));
    const before = project.clock.now();
    const ran = await project.run("watch", "--auto-approve", "--interval", "5m", "--max-runs", "4");
    expect(ran.code, ran.text).toBe(1);
    expect(ran.text.match(/status "OK_FINE" is unknown/g)).toHaveLength(1);
    expect(project.clock.now() - before).toBeLessThan(16 * MINUTE_MS);
  });

  it("that hostform did not cause leaves open what it means", async () => {
    const words = { active: "OK_FINE" };
    const project = await hosted(() => words);
    await project.declare(www({ suspended: false }));
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.code).toBe(1);
    expect(ran.text).toContain(
      'Check the status in the dashboard. Then map it: `providers: { default: { status_words: { "OK_FINE": live } } }` if it is online, or `suspended` if it is suspended (or `pending`, `gone`).',
    );
    expect(project.changesSent()).toEqual([]);
  });

  it("of an order is a wait for the payment, also where something waits for it to be live", async () => {
    const project = await startProject({
      declare: www({ suspended: true }),
      pinned: { status: ["lower"] },
      sandbox: { autoPay: false, provisioningSeconds: 60 },
    });
    const words = { pending: "FUNDS_NEEDED" };
    project.env.HOSTING_BASE_URL = await rewritingHost(project.sandbox.url, (answer) => withStatusWords(answer, words));
    const ran = await project.apply();
    expect(ran.text).toContain("waits for payment of invoice");
    expect(ran.text).toContain(`"suspended" of ${WWW} must wait: its status "FUNDS_NEEDED" is unknown`);
    const [invoice] = project.control.list("invoices").filter(({ status }) => status === "unpaid");
    project.control.payInvoice(invoice?.id ?? 0);
    project.clock.advance(MINUTE_MS);
    await project.apply();
    expect(project.changesSent()).toEqual(["POST /services", "POST /services/1003/suspend"]);
    await project.expectNoChanges();
  });
});
