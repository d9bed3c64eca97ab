import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../../src/core/model/index.ts";
import { TF_ENCRYPTION } from "../../../../src/core/record/index.ts";
import { parseSealed, reseal, SealedText, sealState, unsealed } from "../../../../src/core/record/sealed-text.ts";
import { decodeState } from "../../../../src/core/record/state-document.ts";
import { StateFile } from "../../../../src/core/record/state-file.ts";
import type { StateKey } from "../../../../src/core/record/state-key.ts";
import { tofuProviders } from "../../../../src/project/tofu-keys.ts";
import { character, fc } from "../../../support/fc.ts";
import { countingUuids, diagnosticOf, file } from "./builders.ts";
import { FakeDisk } from "./fake-disk.ts";
import { keyOf, passphraseKey, quick } from "./keys.ts";

/** A state that OpenTofu 1.13.0-dev wrote on 2026-11-30. Its clear text holds "secret <&> ünï". */
const recorded = (name: string) => readFileSync(new URL(`fixtures/opentofu-${name}.tfstate`, import.meta.url), "utf8");

const BLOCKS = `
# The same text that OpenTofu read.
key_provider "pbkdf2" "main" {
  passphrase = "correct horse battery staple"
  iterations = 200000
}
method "aes_gcm" "m" {
  keys = key_provider.pbkdf2.main
}
state {
  method = method.aes_gcm.m
}`;
const pbkdf2 = (settings: object = {}) => ({ passphrase: "correct horse battery staple", ...settings });
const SHORT = { iterations: 200_001, hash_function: "sha256", key_length: 16, salt_length: 16 };
const json = (provider: object, state: object = { method: "method.aes_gcm.m" }, keys = "key_provider.pbkdf2.main") =>
  JSON.stringify({
    key_provider: provider,
    method: { aes_gcm: { m: { keys }, old: { keys: "${key_provider.pbkdf2.old}" } }, unencrypted: { u: {} } },
    state,
  });

/** Answers like the program that made the recorded envelope: the key has the byte in its metadata, and each new key is another one. */
const program = async (command: readonly string[], input: string) => {
  expect(command).toEqual(["give", "keys"]);
  const given = JSON.parse(input);
  const [byte, next] = [given?.external_data.n, given?.external_data.n === 7 ? 8 : 7];
  const key = (n: number) => Buffer.alloc(32, n).toString("base64");
  const keys = { encryption_key: key(next), ...(given && { decryption_key: key(byte) }) };
  return `{"magic":"OpenTofu-External-Key-Provider","version":1}\n${JSON.stringify({ keys, meta: { external_data: { n: next } } })}`;
};
const EXTERNAL = json({ external: { e: { command: ["give", "keys"] } } }, undefined, "key_provider.external.e");

const configured = (text: string, run = program): StateKey => ({
  from: "configuration",
  variable: TF_ENCRYPTION,
  providers: async () => tofuProviders(text, run, () => undefined),
});
const withKeys = (text: string, run = program) => quick(configured(text, run), { format: "opentofu" });
const metaOf = (text: string) => {
  const { meta } = JSON.parse(text) as { meta: Record<string, string> };
  return Object.entries(meta).map(([name, base64]) => [name, JSON.parse(Buffer.from(base64, "base64").toString())]);
};

const KINDS = [
  ["passphrase", BLOCKS],
  ["passphrase", json({ pbkdf2: { main: pbkdf2({ iterations: 200_000 }) } })],
  ["short", json({ pbkdf2: { main: pbkdf2({ ...SHORT, encrypted_metadata_alias: "shared" }) } })],
  ["external", EXTERNAL],
] as const;

describe.each(KINDS)("a state that OpenTofu encrypted (%s)", (name, settings) => {
  test("is decrypted, and a rewritten state has the fields, the order and the provider of OpenTofu", async () => {
    const text = recorded(name);
    const plain = await unsealed(text, "state", withKeys(settings));
    expect(plain).toContain("ünï");
    const disk = new FakeDisk({ "/p/terraform.tfstate": text });
    const written = new SealedText(new StateFile("/p/terraform.tfstate", disk, countingUuids()), withKeys(settings));
    expect(await written.read()).toBe(plain);
    await written.write(plain, () => undefined);
    const after = disk.text("/p/terraform.tfstate") ?? "";
    const [before, now] = [JSON.parse(text), JSON.parse(after)];
    expect(Object.keys(now)).toEqual(Object.keys(before));
    expect(after).toBe(JSON.stringify(now));
    expect({ ...now, meta: 0, encrypted_data: 0 }).toEqual({ ...before, meta: 0, encrypted_data: 0 });
    expect(now.encrypted_data).not.toBe(before.encrypted_data);
    // A passphrase keeps its salt. A program gives a new key with new metadata.
    expect(metaOf(after)).toEqual(
      name === "external" ? [["key_provider.external.e", { external_data: { n: 8 } }]] : metaOf(text),
    );
    expect(await unsealed(after, "state", withKeys(settings))).toBe(plain);
  });

  test("with any changed byte is refused, or read as the same state", async () => {
    const text = recorded(name);
    const encryption = withKeys(settings);
    const plain = await unsealed(text, "state", encryption);
    // Each change of the metadata derives another key, which takes time.
    const [from, to] = [text.indexOf('"meta"') + 8, text.indexOf('"encrypted_data"')];
    const isSlow = (at: number) => name !== "external" && at > from + 30 && at < to - 8 && at % 16 > 0;
    for (const [at, byte] of [...text].entries()) {
      if (isSlow(at)) continue;
      const changed = `${text.slice(0, at)}${String.fromCharCode(byte.charCodeAt(0) ^ 1)}${text.slice(at + 1)}`;
      const disk = new FakeDisk({ "/p/terraform.tfstate": changed });
      const state = new SealedText(new StateFile("/p/terraform.tfstate", disk, countingUuids()), encryption);
      let read: string | undefined;
      const found = await diagnosticOf(async () => {
        read = await state.read();
        decodeState(read ?? "", "state");
      });
      if (found !== undefined || read !== plain)
        expect(found?.code, `${at}: ${changed.slice(0, at + 1).slice(-20)}`).toMatch(
          /^state\.(key|unreadable|newer|unencrypted)$/,
        );
    }
  }, 120_000);

  test("with another field, value or provider is refused", async () => {
    const envelope = JSON.parse(recorded(name)) as Record<string, Json> & { meta: Record<string, string> };
    const encryption = withKeys(settings);
    const [[provider, meta] = ["", {}]] = metaOf(recorded(name)) as [string, JsonObject][];
    const data = Buffer.from(String(envelope.encrypted_data), "base64");
    const withMeta = (of: object, as = provider) => ({
      ...envelope,
      meta: { [as]: Buffer.from(JSON.stringify(of)).toString("base64") },
    });
    const flipped = (at: number) => {
      const bytes = Buffer.from(data);
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
      return { ...envelope, encrypted_data: bytes.toString("base64") };
    };
    const { external_data: external, salt, ...parameters } = meta as Record<string, Json>;
    const others: Record<string, object> = {
      serial: { ...envelope, serial: Number(envelope.serial) + 1 },
      lineage: { ...envelope, lineage: "0b7f9f0e-0000-4000-8000-000000000000" },
      version: { ...envelope, encryption_version: "v1" },
      nonce: flipped(0),
      "first byte": flipped(12),
      "last byte": flipped(data.length - 17),
      "first byte of the tag": flipped(data.length - 16),
      "last byte of the tag": flipped(data.length - 1),
      "shorter data": { ...envelope, encrypted_data: data.subarray(0, -1).toString("base64") },
      "no data": { ...envelope, encrypted_data: "" },
      "clear data": { ...envelope, encrypted_data: Buffer.from(file([])).toString("base64") },
      "more fields": { ...envelope, version: 4, resources: [] },
      "no metadata": { ...envelope, meta: {} },
      "another provider": withMeta(meta, `${provider}x`),
      ...Object.fromEntries(Object.keys(envelope).map((key) => [`no ${key}`, { ...envelope, [key]: undefined }])),
      ...(external && { "another key": withMeta({ external_data: { n: 9 } }) }),
      ...(salt && {
        salt: withMeta({ ...meta, salt: Buffer.alloc(32).toString("base64") }),
        iterations: withMeta({ ...meta, iterations: Number(parameters.iterations) + 1 }),
        hash: withMeta({ ...meta, hash_function: parameters.hash_function === "sha256" ? "sha512" : "sha256" }),
        length: withMeta({ ...meta, key_length: 24 }),
        "no salt": withMeta(parameters),
      }),
    };
    for (const [what, other] of Object.entries(others)) {
      const found = await diagnosticOf(async () => unsealed(JSON.stringify(other), "state", encryption));
      expect(found?.code, what).toMatch(/^state\.(key|unreadable|newer)$/);
    }
  });
});

describe("the passphrase alone", () => {
  test.each(["passphrase", "short"])(
    "decrypts an envelope of PBKDF2, and keeps its name and parameters (%s)",
    async (name) => {
      const encryption = quick(passphraseKey);
      const seal = await encryption.from(parseSealed(recorded(name), "state")?.key ?? {});
      const written = sealState(await unsealed(recorded(name), "state", encryption), seal);
      expect(metaOf(written)).toEqual(metaOf(recorded(name)));
    },
  );

  test("with the format of OpenTofu writes an envelope that TF_ENCRYPTION with the name hostform decrypts", async () => {
    const seal = await quick(passphraseKey, { format: "opentofu", iterations: 200_000 }).fresh();
    const text = sealState(file([], { serial: 1 }), seal);
    expect(Object.keys(JSON.parse(text).meta)).toEqual(["key_provider.pbkdf2.hostform"]);
    const settings = json(
      { pbkdf2: { hostform: pbkdf2({ iterations: 200_000 }) } },
      undefined,
      "key_provider.pbkdf2.hostform",
    );
    expect(await unsealed(text, "state", withKeys(settings))).toBe(file([], { serial: 1 }));
  });

  test("a key of 32 bytes is the key of an external provider with the name hostform", async () => {
    const text = sealState(file([], { serial: 1 }), await quick(keyOf(5), { format: "opentofu" }).fresh());
    expect(metaOf(text)).toEqual([["key_provider.external.hostform", { external_data: {} }]]);
    expect(await unsealed(text, "state", quick(keyOf(5)))).toBe(file([], { serial: 1 }));
  });
});

test("what is encrypted is decrypted by the same key, whatever it is", async () => {
  const encryption = withKeys(EXTERNAL);
  const seal = await encryption.fresh();
  const reader = await withKeys(EXTERNAL).from(JSON.parse(JSON.stringify(seal.header)));
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: character }), fc.nat(), fc.string(), async (value, serial, bound) => {
      const text = JSON.stringify({ serial, lineage: "l", value: value.toWellFormed() });
      expect(await unsealed(sealState(text, seal), "state", encryption)).toBe(text);
      // A line of the journal is bound to its place, with the same key.
      expect(reader.open(seal.seal(text, bound), bound)).toBe(text);
      expect(() => reader.open(seal.seal(text, bound), `${bound}.`)).toThrow();
    }),
  );
});

describe("a refusal", () => {
  const other = json({ pbkdf2: { main: { passphrase: "another horse battery staple", iterations: 200_000 } } });
  const renamed = json({ pbkdf2: { second: pbkdf2() } }, undefined, "key_provider.pbkdf2.second");
  test.each([
    ["no key", undefined, /key_provider\.pbkdf2\.main$/],
    ["another passphrase", configured(other), /^The state is encrypted by OpenTofu with key_provider\.pbkdf2\.main$/],
    ["another name", configured(renamed), /key_provider\.pbkdf2\.main/],
    ["a key instead of a passphrase", keyOf(1), /key_provider\.pbkdf2\.main/],
  ])("names the key provider and the settings: %s", async (_, key, summary) => {
    const path = "/p/terraform.tfstate";
    const disk = new FakeDisk({ [path]: recorded("passphrase") });
    // Even a forced push may not replace a state whose key is wrong.
    const text = new SealedText(new StateFile(path, disk, countingUuids()), quick(key), { damage: true, clear: true });
    for (const action of [() => text.read(), () => text.current(), () => text.write(file([]), () => undefined)]) {
      const problem = await diagnosticOf(action);
      expect(problem).toMatchObject({ code: "state.key", summary: expect.stringMatching(summary) });
      expect(JSON.stringify(problem)).toContain("TF_ENCRYPTION");
      expect(JSON.stringify(problem)).not.toContain("horse");
    }
    expect(disk.text(path)).toBe(recorded("passphrase"));
  });

  test("names a key provider that hostform lacks", async () => {
    const meta = { "key_provider.aws_kms.main": Buffer.from('{"ciphertext_blob":"AAAA"}').toString("base64") };
    const text = JSON.stringify({ ...JSON.parse(recorded("passphrase")), meta });
    expect(await diagnosticOf(() => unsealed(text, "state", quick(passphraseKey)))).toMatchObject({
      code: "state.key",
      summary: "The state is encrypted by OpenTofu with key_provider.aws_kms.main",
    });
  });

  test("of a newer envelope names its version", async () => {
    const text = recorded("passphrase").replace('"v0"', '"v1"');
    expect(await diagnosticOf(() => unsealed(text, "state", withKeys(BLOCKS)))).toMatchObject({ code: "state.newer" });
  });

  test("of metadata that asks for hours of work comes at once", async () => {
    const meta = { salt: "AAAA", iterations: 10_000_001, hash_function: "sha512", key_length: 32 };
    const base64 = Buffer.from(JSON.stringify(meta)).toString("base64");
    const text = JSON.stringify({
      ...JSON.parse(recorded("passphrase")),
      meta: { "key_provider.pbkdf2.main": base64 },
    });
    expect((await diagnosticOf(() => unsealed(text, "state", withKeys(BLOCKS))))?.code).toBe("state.key");
  });

  test.each<[string, string, RegExp]>([
    ["is no block", "key_provider {", /is not valid/],
    ["lacks a state", json({ pbkdf2: { main: pbkdf2() } }, {}), /state\.method/],
    ["begins with clear text", json({}, { method: "method.unencrypted.u" }), /method\.unencrypted\.u/],
    ["names a service of a cloud", json({}, undefined, "key_provider.aws_kms.k"), /key_provider\.aws_kms\.k/],
    [
      "has a short passphrase",
      json({ pbkdf2: { main: { passphrase: "short" } } }),
      /key_provider\.pbkdf2\.main\.passphrase/,
    ],
    [
      "chains providers",
      json({ pbkdf2: { main: { chain: "key_provider.external.e" } } }),
      /key_provider\.pbkdf2\.main/,
    ],
    ["refers to a variable", BLOCKS.replace('"correct horse battery staple"', "var.passphrase"), /is not valid/],
  ])("of a TF_ENCRYPTION that %s shows no value", async (_, settings, summary) => {
    const problem = await diagnosticOf(() => tofuProviders(settings, program, () => undefined));
    expect(problem).toMatchObject({ code: "state.key", summary: expect.stringMatching(summary) });
    expect(JSON.stringify(problem)).not.toMatch(/short"|horse/);
  });

  test.each([
    ["nothing", ""],
    ["another program", '{"magic":"x","version":1}\n{}'],
    [
      "a key of 15 bytes",
      `{"magic":"OpenTofu-External-Key-Provider","version":1}\n{"keys":{"encryption_key":"${"A".repeat(20)}"},"meta":{}}`,
    ],
    ["no key", '{"magic":"OpenTofu-External-Key-Provider","version":1}\n{"keys":{},"meta":{}}'],
  ])("of a program that prints %s", async (_, printed) => {
    const encryption = withKeys(EXTERNAL, async () => printed);
    expect((await diagnosticOf(() => encryption.fresh()))?.code).toBe("state.key");
  });
});

describe("a change of the encryption", () => {
  const path = "/p/terraform.tfstate";
  const place = (text: string) => {
    const disk = new FakeDisk({ [path]: text, [`${path}.backup`]: text });
    return { disk, state: new StateFile(path, disk, countingUuids()) };
  };
  const providers = { pbkdf2: { main: pbkdf2({ iterations: 200_000 }), old: pbkdf2({ iterations: 200_000 }) } };
  const fallback = json(
    { pbkdf2: { ...providers.pbkdf2, main: { passphrase: "a newer horse battery staple" } } },
    { method: "method.aes_gcm.m", fallback: { method: "method.aes_gcm.old" } },
  );

  test("a text of a fallback is encrypted with the first method at its next write", async () => {
    const old = json(providers, { method: "${method.aes_gcm.old}" });
    const text = sealState(file([], { serial: 1 }), await withKeys(old).fresh());
    const { disk, state } = place(text);
    const sealed = new SealedText(state, withKeys(fallback));
    const plain = await sealed.read();
    await sealed.write(plain ?? "", () => undefined);
    expect(metaOf(disk.text(path) ?? "")[0]?.[0]).toBe("key_provider.pbkdf2.main");
    expect((await diagnosticOf(() => unsealed(disk.text(path) ?? "", "state", withKeys(old))))?.code).toBe("state.key");
  });

  test.each([
    ["OpenTofu's form", "opentofu", "encrypted_data"],
    ["the form of the state", undefined, "hostform_encryption"],
  ] as const)("hostform's form takes %s with its next write", async (_, format, field) => {
    const { disk, state } = place(sealState(file([], { serial: 1 }), await quick(passphraseKey).fresh()));
    const text = new SealedText(state, quick(passphraseKey, { format }));
    await text.write((await text.read()) ?? "", () => undefined);
    expect(disk.text(path)).toContain(`"${field}"`);
    expect(disk.text(path)).not.toContain("terraform_version");
  });

  test("another passphrase keeps the form and the name, and decryption gives the clear text", async () => {
    const { disk, state } = place(recorded("passphrase"));
    const newer = { ...passphraseKey, passphrase: "a newer horse battery staple" } as StateKey;
    const wanted = { to: "key", encryption: quick(newer) } as const;
    expect(await reseal(state, quick(passphraseKey), wanted, () => undefined)).toEqual({ changed: true, backup: true });
    for (const one of [path, `${path}.backup`])
      expect(metaOf(disk.text(one) ?? "")[0]?.[0]).toBe("key_provider.pbkdf2.main");
    await reseal(state, quick(newer), { to: "clear" }, () => undefined);
    expect(disk.text(path)).toBe(await unsealed(recorded("passphrase"), "state", quick(passphraseKey)));
  });
});
