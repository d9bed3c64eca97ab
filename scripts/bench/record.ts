// `node scripts/bench/record.ts [FOLDER]`: what it costs to record, on the disk that the folder is on. Not a test.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { type Disk, systemDisk } from "../../src/core/files/index.ts";
import { createFileBackend, createStateStore, emptyDocument, encodeState } from "../../src/core/record/index.ts";

const MUTATIONS = 500;
const counted = { bytes: 0, syncs: 0 };

/** The disk of this machine, which counts bytes and syncs. */
const disk: Disk = {
  ...systemDisk,
  create: async (at) => {
    const file = await systemDisk.create(at);
    return {
      ...file,
      write: (text) => {
        counted.bytes += Buffer.byteLength(text);
        return file.write(text);
      },
      sync: () => {
        counted.syncs++;
        return file.sync();
      },
    };
  },
  syncFolder: (folder) => {
    counted.syncs++;
    return systemDisk.syncFolder(folder);
  },
};

const service = (name: string, id: string | null) => ({
  address: `hosting_service.${name}`,
  provider: "default",
  schemaVersion: 0,
  attributes: {
    id,
    plan_id: 11,
    plan: "Shared Start",
    currency: "USD",
    domain: `${name}.bench.example`,
    status: "active",
  },
  sensitive: [],
  private: {},
  dependencies: [],
});

async function row(count: number, journal: boolean): Promise<void> {
  const folder = await mkdtemp(path.join(process.argv[2] ?? tmpdir(), "hostform-bench-"));
  const place = async () => {
    const { journal: beside, ...rest } = await createFileBackend({ path: path.join(folder, "hosting.tfstate"), disk });
    return { ...rest, ...(journal && beside && { journal: beside }) };
  };
  const store = createStateStore(place, () => crypto.randomUUID());
  const request = { command: "bench", timeoutMs: 0 };
  const resources = new Map(
    Array.from({ length: count }, (_, i) => service(`s${i}`, `${i}`)).map((r) => [r.address, r]),
  );
  const state = { lineage: "bench", serial: 1, resources };
  await store.push(encodeState({ ...emptyDocument(), state }), { ...request, force: false });

  const opened = await store.open({ ...request, write: true });
  Object.assign(counted, { bytes: 0, syncs: 0 });
  const started = performance.now();
  const pending = { since: new Date().toISOString(), operation: "createService", idempotencyKey: "k".repeat(40) };
  for (let i = 0; i < MUTATIONS; i++) {
    await opened.put({ ...service(`new${i}`, null), private: { pending } });
    await opened.put(service(`new${i}`, `${count + i}`));
  }
  const ms = performance.now() - started;
  const { bytes, syncs } = counted;
  const closing = performance.now();
  await opened.close();
  console.log(
    [
      `${count} resources, ${journal ? "journal" : "whole state each time"}`.padEnd(40),
      `${Math.round(bytes / MUTATIONS)} bytes`.padStart(16),
      `${(syncs / MUTATIONS).toFixed(1)} syncs`.padStart(12),
      `${(ms / MUTATIONS).toFixed(1)} ms`.padStart(10),
      `${(ms / 1000).toFixed(1)} s`.padStart(10),
      `${Math.round(performance.now() - closing)} ms`.padStart(10),
    ].join(""),
  );
  await rm(folder, { recursive: true, force: true });
}

console.log(`Node ${process.version}; for one mutation (two puts), then for ${2 * MUTATIONS} puts, then for closing\n`);
for (const count of [10, 5000]) for (const journal of [false, true]) await row(count, journal);
