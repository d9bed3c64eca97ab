/** The encryption of OpenTofu at backends: no clear text at the server or in a file, wrong keys, locks, and migrations. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { type BackendUnderTest, gate, httpBackend, pgBackend, RemoteProject, s3Backend } from "../support/backends.ts";
import { describeWith } from "../support/needing.ts";
import { type Postgres, startPostgres } from "../support/postgres.ts";
import { POSTGRES, type Program } from "../support/programs.ts";
import { KEY } from "../support/s3-server.ts";

const PASSPHRASE = "correct horse battery staple";
const encryption = (passphrase: string) =>
  JSON.stringify({
    key_provider: { pbkdf2: { main: { passphrase, iterations: 200_000 } } },
    method: { aes_gcm: { main: { keys: "key_provider.pbkdf2.main" } } },
    state: { method: "method.aes_gcm.main" },
  });
type Env = Readonly<Record<string, string | undefined>>;
const byConfiguration = (passphrase: string): Env => ({
  HOSTFORM_STATE_FORMAT: "opentofu",
  TF_ENCRYPTION: encryption(passphrase),
});
/** A key needs no derivation, so it is fast. */
const byKey = (byte: number): Env => ({
  HOSTFORM_STATE_FORMAT: "opentofu",
  HOSTFORM_STATE_KEY: Buffer.alloc(32, byte).toString("base64"),
});
const NO_KEYS: Env = { HOSTFORM_STATE_FORMAT: undefined, TF_ENCRYPTION: undefined, HOSTFORM_STATE_KEY: undefined };

const hook = (name: string) => ({ url: `https://${name}.canary.example`, events: ["invoice.paid"] });
const RESOURCES = { webhooks: { one: hook("one"), two: hook("two") } };
const APPLY = ["apply", "--auto-approve", "--parallelism", "1"] as const;
const FIELDS = ["serial", "lineage", "meta", "encrypted_data", "encryption_version"];

/** A backend, and everything that its server stores. */
interface Place {
  /** Environment with the key, and with another key. */
  readonly keys: readonly [Env, Env];
  readonly backend: BackendUnderTest;
  /** Returns the text of the state. */
  state(): Promise<string | undefined>;
  /** Replaces the text of the state. */
  replace(text: string): Promise<unknown>;
  /** Returns all stored texts. */
  all(): Promise<readonly string[]>;
}

let postgres: Postgres | undefined;
const ends: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  if (POSTGRES.path !== undefined) postgres = await startPostgres();
}, 60_000);
afterAll(() => postgres?.stop());
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function http(): Promise<Place> {
  const backend = await httpBackend("gitlab");
  const { server } = backend;
  const written: string[] = [];
  server.onWrite = (text) => void written.push(text);
  return {
    keys: [byConfiguration(PASSPHRASE), byConfiguration("wrong horse battery staple")],
    backend,
    state: async () => server.state,
    async replace(text) {
      server.state = text;
    },
    all: async () => [...written, JSON.stringify(server.lock ?? {})],
  };
}

async function s3(): Promise<Place> {
  const backend = await s3Backend();
  const { store } = backend;
  const written: string[] = [];
  store.onWrite = (key) => void written.push(store.body(key) ?? "");
  return {
    keys: [byKey(1), byKey(2)],
    backend,
    state: async () => store.body(KEY),
    replace: async (text) => store.write(KEY, text),
    all: async () => [...written, ...[...store.objects.values()].map(({ body }) => body)],
  };
}

async function pg(): Promise<Place> {
  const server = postgres as Postgres;
  const backend = await pgBackend(server);
  const rows = async (table: string) => {
    const found = await server
      .query(backend.connection, `SELECT data FROM terraform_remote_state.${table} ORDER BY id`)
      .catch(() => []);
    return found.map(({ data }) => String(data));
  };
  return {
    keys: [byKey(1), byKey(2)],
    backend,
    state: async () => (await rows("states"))[0],
    replace: (text) => server.query(backend.connection, "UPDATE terraform_remote_state.states SET data = $1", [text]),
    all: async () => [...(await rows("states")), ...(await rows("states_history"))],
  };
}

/** Returns all files of a folder except the declaration. */
function filesIn(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => path.join(folder, name));
  return files.filter((file) => statSync(file).isFile() && !file.endsWith("hosting.yaml"));
}

const serials = (text: string | undefined) => JSON.parse(text ?? "{}").serial as number;

async function start(place: Place, sleep?: () => Promise<void>) {
  const project = await RemoteProject.start(place.backend, sleep);
  ends.push(() => project.close());
  Object.assign(project.env, place.keys[0]);
  await project.declare(RESOURCES);
  const file = path.join(project.dir, "hosting.tfstate");
  const run = async (code: number, ...args: string[]) => {
    const ended = await project.hostform(...args);
    expect(ended.code, ended.text).toBe(code);
    return ended.text;
  };
  /**
   * Fails if a file or the server has a value of the state in clear text. The record of this machine names the objects that it
   * owns, for all projects, and has no secret.
   */
  const expectSealed = async () => {
    const secrets = project.sandbox.control.list("webhooks").map(({ secret }) => String(secret));
    const files = filesIn(project.dir).map((name) => ({ name, text: readFileSync(name, "latin1") }));
    const stored = [...files, ...(await place.all()).map((text) => ({ name: text.slice(0, 200), text }))];
    for (const word of [...secrets, "canary.example", "horse"]) {
      const found = stored.filter(({ text }) => text.includes(word)).map(({ name }) => name);
      expect(found.filter((one) => word !== "canary.example" || !one.includes("/machine/"))).toEqual([]);
    }
    return stored.length;
  };
  /** Declares the resources with a state file. */
  const declareFile = async () =>
    writeFileSync(path.join(project.dir, "hosting.yaml"), JSON.stringify({ project: "remote", ...RESOURCES }));
  return { project, run, expectSealed, declareFile, file };
}

/** Runs each command with no key and with a wrong key: an error, no request, and the same texts. */
async function expectLocked(
  place: Place,
  { project, run }: Awaited<ReturnType<typeof start>>,
  commands: readonly (readonly string[])[],
): Promise<void> {
  const { control } = project.sandbox;
  const before = await place.state();
  const changes = () => control.requests().filter(({ method }) => method !== "GET").length;
  const sent = changes();
  for (const env of [NO_KEYS, place.keys[1]]) {
    Object.assign(project.env, env);
    for (const command of commands) {
      const text = await run(1, ...command);
      expect(text, command.join(" ")).toContain("[state.key]");
      expect(text).not.toContain("horse");
      expect(await place.state()).toBe(before);
    }
  }
  Object.assign(project.env, place.keys[0]);
  expect(changes()).toBe(sent);
}

const places: [string, () => Promise<Place>, ...programs: Program[]][] = [
  ["http", http],
  ["s3", s3],
  ["pg", pg, POSTGRES],
];

for (const [name, make, ...programs] of places) {
  describeWith(...programs)(
    `a state with the encryption of OpenTofu at the backend ${name}`,
    { timeout: 120_000 },
    () => {
      it("is an envelope in each write, and no file or row ever has a value of it", async () => {
        const place = await make();
        let watch = async (): Promise<unknown> => undefined;
        let seen = 0;
        const started = await start(place, async () => {
          await watch();
          seen += 1;
        });
        watch = started.expectSealed;
        const { project, run, expectSealed } = started;
        project.sandbox.control.addFault({ method: "POST", path: "/webhooks", phase: "after", delayMs: 1, times: 2 });
        await run(0, ...APPLY);
        expect(seen).toBe(2);
        expect(Object.keys(JSON.parse((await place.state()) ?? ""))).toEqual(FIELDS);
        expect(await expectSealed()).toBeGreaterThan(2);
        expect(await run(0, "state", "list")).toContain("hosting_webhook.two");
        await run(0, "state", "mv", "hosting_webhook.two", "hosting_webhook.three");
        await project.declare({ webhooks: { one: hook("one"), three: hook("two") } });
        expect(await run(0, "plan", "--detailed-exitcode")).toContain("No changes.");
        await expectSealed();
      });

      it("is neither read nor replaced with no key or a wrong key", async () => {
        const place = await make();
        const started = await start(place);
        await started.run(0, ...APPLY);
        const clear = { version: 4, terraform_version: "1.11.4", outputs: {}, resources: [] };
        const { lineage, serial } = JSON.parse((await place.state()) ?? "");
        writeFileSync(
          path.join(started.project.dir, "new.json"),
          JSON.stringify({ ...clear, lineage, serial: serial + 5 }),
        );
        await expectLocked(place, started, [
          ["plan"],
          APPLY,
          ["state", "list"],
          ["state", "mv", "hosting_webhook.two", "hosting_webhook.three"],
          ["state", "decrypt"],
          ["state", "push", "new.json"],
          ["state", "push", "new.json", "--force"],
          ["state", "migrate", "--back"],
        ]);
        expect(existsSync(started.file)).toBe(false);
        await started.run(0, "state", "push", "new.json");
        expect(Object.keys(JSON.parse((await place.state()) ?? ""))).toEqual(FIELDS);
      });

      it("is refused if somebody replaced it by clear text", async () => {
        const place = await make();
        const { project, run } = await start(place);
        await run(0, ...APPLY);
        const clear = await run(0, "state", "pull");
        await place.replace(clear);
        const before = project.sandbox.control.requests().length;
        for (const command of [["plan"], APPLY, ["state", "migrate", "--back"]])
          expect(await run(1, ...command)).toContain("[state.unencrypted]");
        expect(project.sandbox.control.requests()).toHaveLength(before);
        expect(await place.state()).toBe(clear);
      });

      it("is locked during a run, and a run that lost its lock keeps an encrypted copy", async () => {
        const place = await make();
        const { arrived, open, sleep } = gate();
        const { project, run, expectSealed } = await start(place, sleep);
        project.sandbox.control.addFault({ method: "POST", path: "/webhooks", phase: "after", delayMs: 1 });
        const slow = project.start("hostform", ...APPLY);
        await arrived;
        expect(await run(1, ...APPLY)).toContain("[state.locked]");
        expect(await run(1, "state", "migrate", "--back")).toContain("[state.locked]");
        const stored = (await place.state()) ?? "";
        expect(Object.keys(JSON.parse(stored))).toEqual(FIELDS);
        if (name !== "pg") {
          await run(0, "force-unlock", "--yes");
          // Another writer replaces the state.
          await place.replace(JSON.stringify({ ...JSON.parse(stored), serial: serials(stored) + 7 }));
        }
        open();
        const ended = await slow.ended;
        expect(ended.code, ended.text).toBe(name === "pg" ? 0 : 1);
        const kept = path.join(project.dir, "errored.tfstate");
        expect(existsSync(kept)).toBe(name !== "pg");
        if (name !== "pg") expect(Object.keys(JSON.parse(readFileSync(kept, "utf8")))).toEqual(FIELDS);
        await expectSealed();
      });

      it("migrates from the file and back without clear text, and not with no key or a wrong key", async () => {
        const place = await make();
        const started = await start(place);
        const { project, run, expectSealed, declareFile, file } = started;
        await declareFile();
        await run(0, ...APPLY);
        const own = readFileSync(file, "utf8");
        expect(Object.keys(JSON.parse(own))).toEqual(FIELDS);
        await project.declare(RESOURCES);
        await expectLocked(place, started, [["state", "migrate"]]);
        expect(readFileSync(file, "utf8")).toBe(own);

        await run(0, "state", "migrate");
        expect(Object.keys(JSON.parse((await place.state()) ?? ""))).toEqual(FIELDS);
        expect(existsSync(file)).toBe(false);
        expect(readFileSync(`${file}.backup`, "utf8")).toBe(own);
        await expectSealed();
        expect(await run(0, "plan", "--detailed-exitcode")).toContain("No changes.");

        await expectLocked(place, started, [["state", "migrate", "--back"]]);
        await run(0, "state", "migrate", "--back");
        expect(Object.keys(JSON.parse(readFileSync(file, "utf8")))).toEqual(FIELDS);
        await expectSealed();
      });

      it("is not replaced by the clear text of a file", async () => {
        const place = await make();
        const { project, run, declareFile, file } = await start(place);
        await run(0, ...APPLY);
        const clear = await run(0, "state", "pull");
        await declareFile();
        writeFileSync(file, clear);
        await project.declare(RESOURCES);
        const before = await place.state();
        for (const [env, code] of [
          [NO_KEYS, "state.key"],
          // The clear text in the file is the first error if a key is set.
          [place.keys[1], "state.unencrypted"],
          [place.keys[0], "state.unencrypted"],
        ] as const) {
          Object.assign(project.env, env);
          expect(await run(1, "state", "migrate")).toContain(`[${code}]`);
          expect(await place.state()).toBe(before);
          expect(readFileSync(file, "utf8")).toBe(clear);
        }
        // The file is encrypted with the given key, which is not the key of the backend.
        Object.assign(project.env, { ...place.keys[1], HOSTFORM_STATE_ALLOW_UNENCRYPTED: "1" });
        expect(await run(1, "state", "migrate")).toContain("[state.key]");
        expect(await place.state()).toBe(before);
        expect(Object.keys(JSON.parse(readFileSync(file, "utf8")))).toEqual(FIELDS);
        writeFileSync(file, clear);
        // The clear text in the file is accepted, and the backend stays encrypted.
        Object.assign(project.env, place.keys[0]);
        await run(0, "state", "migrate");
        expect(Object.keys(JSON.parse((await place.state()) ?? ""))).toEqual(FIELDS);
      });
    },
  );
}
