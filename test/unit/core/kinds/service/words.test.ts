import { describe, expect, it } from "vitest";
import { phaseOfWord } from "../../../../../src/core/kinds/life.ts";
import { monthsOf, passwordForm, phaseOf } from "../../../../../src/core/kinds/service/words.ts";
import fc from "../../../../support/fc.ts";

const plain = { statusWords: {} };

describe("the phase of a status word", () => {
  it.each([
    // Words of the sandbox and of likely hosts.
    ["pending", "pending"],
    ["active", "live"],
    ["suspended", "suspended"],
    ["terminated", "gone"],
    ["cancelled", "gone"],
    ["canceled", "gone"],
    // Other spellings of the same words.
    ["Active", "live"],
    ["ACTIVE", "live"],
    [" active ", "live"],
    ["Pending Payment", "pending"],
    ["PENDING_PAYMENT", "pending"],
    ["pendingPayment", "pending"],
    ["awaiting-payment", "pending"],
    ["SUSPENDED_BY_CLIENT", "suspended"],
    ["suspended (non-payment)", "suspended"],
    ["Suspended for non payment", "suspended"],
    ["SERVICE_STATUS_RUNNING", "live"],
    ["running", "live"],
    ["new", "pending"],
    // Synonyms, causes, other languages.
    ["In progress", "pending"],
    ["unpaid", "pending"],
    ["Activated", "live"],
    ["up", "live"],
    ["SUSPENDED_BY_OWNER", "suspended"],
    ["suspend", "suspended"],
    ["Suspending", "suspended"],
    ["suspension", "suspended"],
    ["on hold", "suspended"],
    ["OnHold", "suspended"],
    ["ON-HOLD", "suspended"],
    ["frozen", "suspended"],
    ["halted", "suspended"],
    ["Paused (by owner)", "suspended"],
    ["account.blocked", "suspended"],
    // A negated, reversed or requested status is unknown, and changes nothing.
    ["unsuspend", "unknown"],
    ["unsuspending", "unknown"],
    ["not on hold", "unknown"],
    ["no longer suspended", "unknown"],
    ["pending suspension", "unknown"],
    ["suspension requested", "unknown"],
    ["to be suspended", "unknown"],
    ["suspension lifted", "unknown"],
    ["suspended, now active", "unknown"],
    ["reactivated", "unknown"],
    ["unfrozen", "unknown"],
    ["unblocked", "unknown"],
    ["inactive", "unknown"],
    ["hold released", "unknown"],
    ["7", "unknown"],
    ["", "unknown"],
    ["On Hold", "suspended"],
    ["locked (on request)", "suspended"],
    ["disabledByCustomer", "suspended"],
    ["service-ended", "gone"],
    ["Aktiv", "live"],
    ["en attente", "pending"],
    ["résilié", "gone"],
    ["შეჩერებული", "suspended"],
    // Words with two meanings, or with opposite meanings, are unknown.
    ["active, suspended", "unknown"],
    ["pending cancellation", "unknown"],
    ["pending suspended", "unknown"],
    ["not active", "unknown"],
    ["inactive", "unknown"],
    ["unsuspended", "unknown"],
    ["non active", "unknown"],
    ["active until cancelled", "unknown"],
    // Words without a clear meaning.
    ["fraud", "unknown"],
    ["ok", "unknown"],
    ["status", "unknown"],
    ["payment", "unknown"],
    ["overdue", "unknown"],
    ["", "unknown"],
    ["---", "unknown"],
    ["constructor", "unknown"],
    ["__proto__", "unknown"],
    ["有効", "unknown"],
    // A server that is off is not suspended, because its owner may have stopped it.
    ["stopped", "unknown"],
    ["offline", "unknown"],
    ["not suspended", "unknown"],
    ["1", "unknown"],
    [null, "unknown"],
  ])("%j is %s", (word, phase) => {
    expect(phaseOfWord(word, plain)).toBe(phase);
  });

  it("follows the user's status words before anything else", () => {
    const settings = { statusWords: { fraud: "gone", active: "suspended", "on hold": "suspended" } } as const;
    expect(phaseOfWord("Fraud", settings)).toBe("gone");
    expect(phaseOfWord("ACTIVE", settings)).toBe("suspended");
    expect(phaseOfWord(" On Hold ", settings)).toBe("suspended");
    expect(phaseOfWord("suspended", settings)).toBe("suspended");
  });

  it("is unknown for any unlisted word", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[qxz]{1,12}$/), (word) => {
        expect(phaseOfWord(word, plain)).toBe("unknown");
      }),
    );
  });
});

describe("the phase of a service", () => {
  it.each([
    ["active", "provisioned", "live", "both agree"],
    ["active", "provisioning", "pending", "ready is what is provisioned"],
    ["active", "pending", "pending", "ordered only"],
    ["active", "not started", "pending", "nothing has begun"],
    ["active", "inactive", "pending", "the same in one word"],
    ["active", null, "live", "no provisioning state at all"],
    ["active", "", "live", "an empty one"],
    ["active", "done", "live", "an unknown provisioning state does not make a known status unknown"],
    ["active", "failed", "live", "the host says that it is active"],
    ["pending", "provisioned", "pending", "not paid"],
    ["suspended", "pending", "suspended", "suspended is suspended"],
    ["terminated", "provisioning", "gone", "gone is gone"],
    ["whatever", "provisioned", "unknown", "an unknown status is never acted upon"],
    [null, "provisioned", "unknown", "no status"],
  ])("of status %j and provisioning %j is %s: %s", (status, provisioning, phase, _why) => {
    expect(phaseOf(status, provisioning, plain)).toBe(phase);
  });
});

describe("the months of a billing cycle", () => {
  it.each([
    ["monthly", 1],
    ["Monthly", 1],
    ["QUARTERLY", 3],
    ["semiannually", 6],
    ["semi-annually", 6],
    ["half yearly", 6],
    ["half-year", 6],
    ["annually", 12],
    ["yearly", 12],
    ["biennially", 24],
    ["triennially", 36],
    ["3 months", 3],
    ["1 month", 1],
    ["12", 12],
    ["1 year", 12],
    ["2_years", 24],
    ["36mo", 36],
    ["year", 12],
    ["one-time", undefined],
    ["weekly", undefined],
    ["", undefined],
    ["constructor", undefined],
    [null, undefined],
  ])("%j is %j", (cycle, months) => {
    expect(monthsOf(cycle)).toBe(months);
  });
});

describe("the password of a product", () => {
  it.each([
    ["shared", "given"],
    ["WordPress", "given"],
    ["wordpress_hosting", "given"],
    ["SHARED_HOSTING", "given"],
    ["vps", "generated"],
    ["Root VPS", "generated"],
    ["root_vps", "generated"],
    ["virtual_desktop", "generated"],
    ["Virtual Desktop", "generated"],
    ["dedicated", "unknown"],
    ["", "unknown"],
    [null, "unknown"],
  ])("%j is %s", (type, form) => {
    expect(passwordForm(type)).toBe(form);
  });
});
