import { describe, expect, it } from "vitest";
import { httpBackend } from "../support/backends.ts";
import { type Project, startProject } from "../support/project.ts";
import { ordersIn, watchSockets } from "../support/sockets.ts";

const names = Array.from({ length: 6 }, (_, at) => `s${at}`);

const declaration = {
  project: "interrupted",
  services: Object.fromEntries(
    names.map((name) => [name, { plan_id: 11, currency: "USD", domain: `${name}.acme.example` }]),
  ),
};

const orders = ({ control }: Project) => control.list("services").filter(({ customer_id }) => customer_id === 1);

/** A request limit so low that orders wait for their turn. */
const slow = { default: { token_env: "HOSTING_TOKEN", requests_per_minute: 6 } };

/** Presses Ctrl-C when the sandbox works on the nth request of this method. */
function interruptAt(project: Project, method: string, nth: number): void {
  let seen = 0;
  project.control.addFault({ method, path: "/services", phase: "before", delayMs: 1, times: 100 });
  project.onDelay = () => {
    seen += 1;
    if (seen === nth) project.interrupt();
  };
}

describe("Ctrl-C", () => {
  it("during an apply finishes what is under way, records it, and says what was not done", async () => {
    const project = await startProject({ declare: declaration });
    interruptAt(project, "POST", 2);
    const ran = await project.run("apply", "--auto-approve", "--parallelism", "2");
    expect(ran.code).toBe(1);
    expect(ran.err).toContain("Interrupted");

    const recorded = [...(await project.state()).resources.values()].map(({ attributes }) => attributes.id).sort();
    const ordered = orders(project).map(({ id }) => String(id));
    expect(recorded).toEqual(ordered.sort());
    expect(ordered.length).toBeGreaterThanOrEqual(2);
    expect(ordered.length).toBeLessThan(names.length);
    const undone = names.filter((name) => !orders(project).some(({ domain }) => domain?.startsWith(`${name}.`)));
    for (const name of undone) expect(ran.out).toContain(`hosting_service.${name}`);
    expect(ran.out).toMatch(/not (started|done)/i);

    project.control.clearFaults();
    await project.apply();
    expect(
      orders(project)
        .map(({ domain }) => domain)
        .sort(),
    ).toEqual(names.map((name) => `${name}.acme.example`));
    await project.expectNoChanges();
  });

  it("while reading ends the run at once; nothing was begun", async () => {
    const project = await startProject({ declare: declaration });
    interruptAt(project, "GET", 1);
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.code).toBe(1);
    expect(ran.err).toContain("Interrupted. Nothing was changed.");
    expect(ran.err).not.toContain("Internal error");
    expect(project.changesSent()).toEqual([]);
    expect(await project.stateText()).toBeUndefined();
    project.control.clearFaults();
    await project.apply();
  });

  it("while a queued job is waited for leaves it in the queue", async () => {
    const project = await startProject({
      declare: { project: "one", services: { www: { plan_id: 11, currency: "USD", domain: "www.acme.example" } } },
      sandbox: { jobSeconds: 600 },
    });
    await project.apply();
    await project.declare({
      project: "one",
      services: { www: { plan_id: 11, currency: "USD", domain: "www.acme.example", suspended: true } },
    });
    project.control.clearRequests();
    project.control.addFault({ method: "GET", path: "/services/:id", nth: 3, phase: "before", delayMs: 1 });
    project.onDelay = () => project.interrupt();
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.code).toBe(1);
    expect(ran.out).toContain("Waiting:\n  hosting_service.www");
    expect(project.changesSent()).toEqual(["POST /services/1003/suspend"]);
    expect(project.clock.slept).toBeLessThan(60_000);
    expect(ran.text).not.toContain("Internal error");
    project.control.advanceClock({ minutes: 20 });
    expect((await project.plan()).changes.map(({ actions }) => actions)).toEqual([["no-op"]]);
  });

  it("twice: the summary comes at once, orders that never left are none of `resolve`'s, and the lock is free", async () => {
    const project = await startProject({ declare: { ...declaration, providers: slow } });
    project.control.addFault({ method: "POST", path: "/services", phase: "after", delayMs: 1, times: 100 });
    // The server has the order, but its response never arrives.
    project.onDelay = () => {
      project.interrupt();
      project.interrupt();
    };
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.code).toBe(1);
    expect(ran.out).toMatch(/Apply interrupted: \d of 6 changes completed, \d not started, 1 with no known outcome/);
    const open = [...(await project.state()).resources.values()].filter(({ private: mark }) => mark.pending);
    expect(open).toHaveLength(1);
    expect(ran.out).toContain(`carried it out):\n  ${open[0]?.address}`);
    const resolved = JSON.parse((await project.run("resolve", "--json")).out);
    expect(JSON.stringify(resolved).match(/"address"/g)).toHaveLength(1);

    project.onDelay = () => undefined;
    await project.apply();
    expect(orders(project)).toHaveLength(6);
    await project.expectNoChanges();
  });

  it("twice, with the state at a server: what never left is taken back there, too", async () => {
    const backend = await httpBackend("plain");
    const project = await startProject({
      declare: { ...declaration, providers: slow, backend: { http: backend.settings } },
      env: backend.env,
    });
    const sent = watchSockets(
      project.sandbox,
      () => ordersIn(sent).length === 2,
      () => {
        project.interrupt();
        setImmediate(() => project.interrupt());
      },
    );
    const ran = await project.run("apply", "--auto-approve");
    expect(ran.code).toBe(1);
    expect(ordersIn(sent)).toHaveLength(2);
    expect(ran.text).not.toContain("could not be written");
    expect(backend.server.lock).toBeUndefined();
    const left = JSON.parse(backend.server.state ?? "{}").resources.map(({ name }: { name: string }) => name);
    const asked = ordersIn(sent).map(({ body }) => /"domain":"(\w+)/.exec(body)?.[1]);
    expect(left.filter((name: string) => !asked.includes(name))).toEqual([]);
    await project.apply();
    expect(orders(project)).toHaveLength(6);
    await backend.close();
  });

  it("at the question whether to go on, orders nothing, whatever is answered", async () => {
    const project = await startProject({ declare: declaration });
    project.answer = () => {
      project.interrupt();
      return "yes";
    };
    const sent = watchSockets(project.sandbox);
    const ran = await project.run("apply");
    expect(ran.code).toBe(1);
    expect(ordersIn(sent)).toEqual([]);
    expect(orders(project)).toEqual([]);
  });
});
