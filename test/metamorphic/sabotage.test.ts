/**
 * Checks that each property of the suite can fail. A sabotage breaks a passing cell, and the property must detect it.
 */
import { describe, expect, it } from "vitest";
import { describeWith } from "../support/needing.ts";
import { TERRAFORM } from "../support/programs.ts";
import { absence, allCells, type Cell, cellOf, nameOf } from "./cells.ts";
import { CHANGES, type ChangeName } from "./changes.ts";
import { play, type Sabotage } from "./course.ts";
import { FRONTS } from "./declaration.ts";
import { FAULT_NAMES } from "./faults.ts";
import { FACTS, KINDS } from "./kinds.ts";
import type { Place } from "./place.ts";

/** Calls `act` once, at the first request that creates an object after the start. */
function withCreate(place: Place, act: () => void): void {
  const made = place.books.effects.length;
  place.books.onEntry = () => {
    if (!place.books.effects.slice(made).some(({ did }) => did === "created")) return;
    place.books.onEntry = () => undefined;
    act();
  };
}

const webhook = (place: Place, key: string) => place.control.list("webhooks").find(({ url }) => url.includes(key));
const again = (place: Place, key: string) =>
  void place.control.create("webhooks", { url: `https://${key}.hooks.example/`, events: ["invoice.paid"] });

/** Objection of a property, name of the cell, and the sabotage. */
const SABOTAGES: readonly (readonly [says: RegExp | readonly RegExp[], cell: string, sabotage: Sabotage])[] = [
  [
    [/^two was made 2 times/, /the account has two twice/],
    "webhook / add / blocks / none@POST1 / stack>stack>stack / same",
    { begun: (place) => withCreate(place, () => again(place, "two")) },
  ],
  [
    /^the account still has two/,
    "webhook / remove / blocks / none@DELETE1 / yaml>yaml>yaml / same",
    { settled: (place) => again(place, "two") },
  ],
  [
    /^one was missing for more than 2 requests/,
    "grant / add / keyed / none@POST1 / yaml>yaml>yaml / same",
    {
      begun(place) {
        const [grant] = place.control.list("grants");
        place.control.remove("grants", grant?.id ?? 0);
        const since = place.books.entries.length;
        place.books.onEntry = () => {
          if (place.books.entries.length < since + 3 || grant === undefined) return;
          place.books.onEntry = () => undefined;
          if (!place.control.list("grants").some(({ email }) => email === grant.email))
            place.control.create("grants", { service_id: grant.service_id, email: grant.email, permission: "view" });
        };
      },
    },
  ],
  [
    /^the secret of one is lost/,
    "webhook / add / blocks / none@POST1 / stack>stack>stack / same",
    { settled: (place) => void place.control.rotateSecret(webhook(place, "one")?.id ?? 0) },
  ],
  [
    /^one was suspended by request/,
    "service / add / blocks / none@POST1 / yaml>yaml>yaml / same",
    {
      begun: (place) =>
        withCreate(place, () => {
          const site = place.control.list("services").find(({ domain }) => domain === "one.example");
          place.control.suspendService(site?.id ?? 0);
        }),
    },
  ],
  [
    /^yaml prints 3 added, and the server saw 1/,
    "webhook / add / blocks / none@POST1 / yaml>yaml>yaml / same",
    { opened: (place) => forge(place, { counts: { added: 3, changed: 0, destroyed: 0 } }) },
  ],
  [
    /`apply` ends with 0, and the account has no two/,
    "webhook / create / blocks / 5xx before@POST2+ / yaml>yaml>yaml / same",
    { opened: (place) => forge(place, { code: 0 }) },
  ],
  [
    [/^the account has no one/, /^the last plan of stack ends with 2/],
    "webhook / add / blocks / none@POST1 / stack>stack>stack / same",
    { settled: (place) => place.control.remove("webhooks", webhook(place, "one")?.id ?? 0) },
  ],
  [
    /^not settled after 2 applies/,
    "client_account / add / blocks / none@POST1 / yaml>yaml>yaml / same",
    { opened: (place) => forge(place, { code: 1 }, 1) },
  ],
  [
    [/says "not in the state"/, /written differently/],
    "webhook / add / blocks / none@POST1 / terraform>terraform>terraform / same",
    { opened: (place) => forge(place, { text: "It is not in the state. A host may write it differently." }) },
  ],
  [
    /^one was \d+ and is \d+, though nothing of it changed/,
    "webhook / rename moved / blocks / none@POST1 / yaml>yaml>yaml / same",
    {
      begun(place) {
        place.control.remove("webhooks", webhook(place, "one")?.id ?? 0);
        again(place, "one");
      },
    },
  ],
  [
    /^the plan is not refused/,
    "service / replace / blocks / none@POST1 / terraform>terraform>terraform / same",
    { opened: (place) => forge(place, { code: 2 }, 1) },
  ],
];

/** Changes of grants that YAML supports. */
const YAML_GRANTS: readonly ChangeName[] = ["create", "add", "remove", "rename parent", "import"];

/** Modifies the recorded output of commands. By default, from the second command on. */
function forge(place: Place, parts: object, from = 1): void {
  place.forge = (ran) => (place.ran.length < from ? ran : { ...ran, ...parts });
}

describeWith(TERRAFORM)("the metamorphic suite", { timeout: 60_000 }, () => {
  it.each(SABOTAGES)("reports an objection that matches %s", async (says, name, sabotage) => {
    const { objections, log } = await play(cellOf(name), sabotage);
    for (const one of [says].flat())
      expect(
        objections.some((text) => one.test(text)),
        `${one}: ${objections.join("\n")}\n${log}`,
      ).toBe(true);
  });
});

describe("the cells of the metamorphic suite", () => {
  const all = [
    ...allCells("1", { fronts: FRONTS, crashes: false }),
    ...allCells("1", { fronts: FRONTS, crashes: true }),
  ];

  it("have names that `cellOf` parses to the same cell", () => {
    expect(all.map((cell) => cellOf(nameOf(cell)))).toEqual(all);
    expect(() => cellOf("webhook / sing / blocks / none@POST1 / yaml>yaml>yaml / same")).toThrow(
      "no cell has the name",
    );
  });

  it("contain every fault, kind and change that each front supports", () => {
    const missing = FRONTS.flatMap((front) =>
      KINDS.flatMap((kind) =>
        CHANGES.filter(
          (change) => !all.some((cell) => cell.fronts[1] === front && cell.kind === kind && cell.change === change),
        ).map((change) => [front, kind, change].join(" ")),
      ),
    );
    // YAML has no count and no for_each, and its grants have e-mail addresses as keys. hostform has no taint, and its
    // stacks have no option to replace an object.
    const absent = (front: string, kind: string): readonly string[] => {
      if (front === "terraform") return kind === "grant" ? [] : ["rename parent"];
      if (front === "stack") return [...(kind === "grant" ? [] : ["rename parent"]), "taint", "replace"];
      if (kind === "grant") return CHANGES.filter((change) => !YAML_GRANTS.includes(change));
      return ["rename parent", "count to for_each", "for_each to count", "regroup moved", "taint", "replace"];
    };
    expect(missing).toEqual(
      FRONTS.flatMap((front) =>
        KINDS.flatMap((kind) => absent(front, kind).map((change) => [front, kind, change].join(" "))),
      ),
    );
    for (const fault of FAULT_NAMES)
      expect(
        all.some((cell) => cell.fault === fault),
        fault,
      ).toBe(true);
    const passed = all.filter(({ fronts: [first, front, last] }) => new Set([first, front, last]).size > 1);
    expect(passed.length).toBeGreaterThan(all.length / 10);
    expect(all.filter(({ fresh }) => fresh).length).toBeGreaterThan(all.length / 10);
    expect(all.filter((cell: Cell) => absence(cell) !== undefined)).toEqual([]);
    expect(Object.keys(FACTS)).toEqual(KINDS);
  });
});
