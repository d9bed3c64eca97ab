import { describe, expect, it } from "vitest";
import { idempotencyKey } from "../../../src/lifecycle/index.ts";
import { keyExpiry, keyIsTrusted } from "../../../src/lifecycle/key.ts";
import fc from "../../support/fc.ts";

describe("the Idempotency-Key of an order", () => {
  // Never change these values: a key that is computed differently orders, and bills, everything in flight once more.
  it.each([
    ["acme", "hosting_service.www", 1, "hostform-1-36b8266e98f237e1cfb01abb4748b6593a9"],
    ["acme", "hosting_service.www", 2, "hostform-1-d21ec9a228f771510b4b04b7d6ac5f1d91a"],
    ["acme", "acme-main-site", 1, "hostform-1-52b3ed03cfe0f51f4413fdabf0f81f6ea37"],
    ["agency-ü", 'hosting_service.www["a"]', 1, "hostform-1-27e75ff5fbcfdf8c13a6cd805893a529ee2"],
  ])("of %s, %s, generation %i is always the same", (project, name, generation, key) => {
    expect(idempotencyKey(project, name, generation)).toBe(key);
  });

  it("differs when any part of it does, wherever one part ends and the next begins", () => {
    const order = fc.tuple(fc.string(), fc.string(), fc.integer({ min: 1, max: 99 }));
    fc.assert(
      fc.property(order, order, (a, b) => {
        const same = JSON.stringify(a) === JSON.stringify(b);
        expect(idempotencyKey(...a) === idempotencyKey(...b)).toBe(same);
      }),
    );
    expect(idempotencyKey("a", "bc", 1)).not.toBe(idempotencyKey("ab", "c", 1));
  });

  it("can stand in a header", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (project, name) => {
        expect(idempotencyKey(project, name, 1)).toMatch(/^[a-z0-9-]{46}$/);
      }),
    );
  });
});

describe("trust in a key", () => {
  const since = "2026-11-21T10:00:00.000Z";
  const at = (seconds: number) => Date.parse(since) + seconds * 1000;

  it("ends a minute before the host may forget it: the request arrives before that", () => {
    expect(keyExpiry(since)).toBe(at(540));
    expect([0, 540, 541, 600].map((seconds) => keyIsTrusted(since, at(seconds)))).toEqual([true, true, false, false]);
    expect(keyExpiry(since, 86_400_000)).toBe(at(86_400 - 60));
    expect(keyIsTrusted(since, at(86_341), 86_400_000)).toBe(false);
  });

  it("ends halfway in a host that forgets within the minute, and is none in a time that lies ahead or is none", () => {
    expect([0, 15, 16].map((seconds) => keyIsTrusted(since, at(seconds), 30_000))).toEqual([true, true, false]);
    expect(keyIsTrusted(since, at(-1))).toBe(false);
    expect(keyIsTrusted("yesterday", at(0))).toBe(false);
  });
});
