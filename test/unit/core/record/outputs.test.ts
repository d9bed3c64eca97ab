import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Json, OutputState } from "../../../../src/core/model/index.ts";
import { decodeState, emptyDocument, encodeState, withOutputs } from "../../../../src/core/record/index.ts";
import fc from "../../../support/fc.ts";
import { file, resource } from "./builders.ts";
import { everyLuck, FakeDisk } from "./fake-disk.ts";
import { idsOn, openOn, readOn, statePath } from "./journal-harness.ts";

/** A state that Terraform 1.11.4 wrote, with outputs of every type. */
const written = readFileSync(join(import.meta.dirname, "fixtures/outputs-by-terraform.txt"), "utf8");

const output = (value: Json, more: Partial<OutputState> = {}): OutputState => ({
  value,
  type: "string",
  sensitive: false,
  ...more,
});
const outputs = (given: Record<string, OutputState>) => new Map(Object.entries(given));

describe("the outputs of a state", () => {
  const { state } = decodeState(written, "the fixture");

  test("are read from Terraform's format", () => {
    expect(state.outputs?.get("sec")).toEqual(output("geheim", { sensitive: true }));
    expect(state.outputs?.get("set")).toEqual(output(["a", "b"], { type: ["set", "string"] }));
    expect([...(state.outputs?.keys() ?? [])].slice(0, 3)).toEqual(["Z", "a_1", "b"]);
  });

  test("are written in Terraform's format, byte for byte", () => {
    const rest = new Map([...(state.outputs ?? [])].filter(([name]) => name !== "bignum").reverse());
    const fresh = encodeState(withOutputs(emptyDocument(), rest));
    const section = (text: string) => text.slice(text.indexOf('  "outputs"'), text.indexOf('  "resources"'));
    const bignum = '    "bignum": {\n      "value": 12345678901234567890,\n      "type": "number"\n    },\n';
    expect(section(fresh)).toBe(section(written).replace(bignum, ""));
  });

  test("keep their bytes when other outputs change, including digits beyond JavaScript numbers", () => {
    const document = decodeState(written, "the fixture");
    const changed = withOutputs(document, new Map(document.state.outputs).set("b", output(false, { type: "bool" })));
    expect(encodeState(document)).toBe(written);
    expect(encodeState(changed)).toBe(written.replace('"value": true', '"value": false'));
  });

  test("keep the same document if only the order differs", () => {
    const one = withOutputs(emptyDocument(), outputs({ b: output({ x: 1, y: 2 }), a: output("1") }));
    expect(withOutputs(one, outputs({ a: output("1"), b: output({ y: 2, x: 1 }) }))).toBe(one);
    expect(withOutputs(one, new Map()).state).toEqual(emptyDocument().state);
  });

  test.each([[{ a: 1 }], [{ a: { value: 1 } }], [null], [[1]]])("ignore an invalid output (%j)", (found) => {
    const document = decodeState(file([], { outputs: found }), "a file");
    expect(document.state.outputs).toBeUndefined();
    expect(JSON.parse(encodeState(document)).outputs).toEqual(found ?? {});
    const added = JSON.parse(encodeState(withOutputs(document, outputs({ a: output("x") })))).outputs;
    expect(added).toEqual({ a: { value: "x", type: "string" } });
  });

  test("are read as recorded, with any value", () => {
    const entry = fc.record({ value: fc.jsonValue(), type: fc.jsonValue(), sensitive: fc.boolean() });
    fc.assert(
      fc.property(fc.dictionary(fc.string(), entry), (given) => {
        const known = outputs(given as Record<string, OutputState>);
        const first = withOutputs({ ...emptyDocument(), state: { ...emptyDocument().state, lineage: "l" } }, known);
        const again = decodeState(encodeState(first), "a file");
        expect(withOutputs(again, known)).toBe(again);
        expect(encodeState(again)).toBe(encodeState(first));
      }),
    );
  });
});

describe("an open state with outputs", () => {
  test("records outputs and resources in one write, and writes nothing without a difference", async () => {
    const disk = new FakeDisk();
    const open = await openOn(disk);
    await open.put(resource("hosting_service.a", "1"));
    await open.setOutputs(outputs({ id: output("1") }));
    await open.put(resource("hosting_service.b", "2"));
    await open.close();
    const { state } = await readOn(disk);
    expect([state.serial, state.resources.size, state.outputs?.get("id")]).toEqual([2, 2, output("1")]);
    const before = disk.operations.length;
    const again = await openOn(disk);
    await again.setOutputs(outputs({ id: output("1") }));
    await again.close();
    expect(disk.operations.slice(before).filter((each) => /rename|write|sync/.test(each))).toEqual([]);
    expect((await readOn(disk)).state.serial).toBe(2);
  });

  test("has the old or the new outputs after a crash, and never loses a resource", async () => {
    const start = new FakeDisk();
    const first = await openOn(start);
    await first.setOutputs(outputs({ id: output("0"), gone: output("g") }));
    await first.close();
    const before = start.text(statePath) ?? "";
    const run = async (disk: FakeDisk, done: string[]) => {
      const open = await openOn(disk);
      await open.put(resource("hosting_service.a", "1"));
      done.push("hosting_service.a");
      await open.setOutputs(outputs({ id: output("1") }));
      done.push("outputs");
      await open.close();
    };
    const whole = new FakeDisk({ [statePath]: before });
    await run(whole, []);
    for (let crashAt = 1; crashAt <= whole.operations.length; crashAt++) {
      const disk = new FakeDisk({ [statePath]: before });
      disk.crashAt = crashAt;
      const done: string[] = [];
      await run(disk, done).catch(() => undefined);
      for (const luck of everyLuck) {
        const survivor = disk.afterPowerFailure(luck);
        const found = Object.fromEntries((await readOn(survivor)).state.outputs ?? []);
        const [old, next] = [{ id: output("0"), gone: output("g") }, { id: output("1") }];
        expect(done.includes("outputs") ? [next] : [old, next]).toContainEqual(found);
        if (done.includes("hosting_service.a")) expect(await idsOn(survivor)).toEqual({ "hosting_service.a": "1" });
      }
    }
  });
});
