import { describe, expect, it } from "vitest";
import type { ApiError, Diagnostic } from "../../../../src/core/model/index.ts";
import { api, failureOf, service, setUp, useNock } from "./support.ts";

/** Totals in headers, and lists that do not prove their completeness. */
useNock();

describe.each(["Content-Range", "X-Total-Count", "X-Total"])("a total in %s", (header) => {
  const stated = (total: number) => ({ [header]: header === "Content-Range" ? `items 0-0/${total}` : String(total) });
  const answered = (body: object, total: number) => {
    api()
      .persist()
      .get(/services/)
      .reply(200, body, stated(total));
    return setUp().client.services.list().all();
  };

  it.each([[[]], [[service()]], [{ data: [] }]])(
    "above the number of rows in %j makes the list incomplete",
    async (body) => {
      expect(await failureOf(answered(body, 31))).toMatchObject({ diagnostics: [{ code: "api.pagination" }] });
    },
  );

  it("that equals the number of rows agrees with the list", async () => {
    expect(await answered([service()], 1)).toHaveLength(1);
  });

  it("of 0 makes an empty object a list", async () => {
    expect(await answered({}, 0)).toEqual([]);
  });

  it("has a lower priority than the total in the body", async () => {
    expect(await answered({ data: [service()], meta: { total: 1, current_page: 1, last_page: 1 } }, 31)).toHaveLength(
      1,
    );
  });
});

it.each(["*", "items 0-24/*", "bytes 0-0/x", ""])("a header without a total, %j, is ignored", async (value) => {
  api()
    .persist()
    .get(/services/)
    .reply(200, [], { "Content-Range": value, "X-Total": "many" });
  expect(await setUp().client.services.list().all()).toEqual([]);
});

describe("a list for display only", () => {
  const setUpWarned = () => {
    const warnings: Diagnostic[] = [];
    const { client } = setUp({ onWarning: (warning: Diagnostic) => warnings.push(warning) });
    const failures: ApiError[] = [];
    const onNoList = (failure: ApiError) => void failures.push(failure);
    return { client, warnings, failures, onNoList };
  };

  it("is empty if the response is no list, with one warning for each such list", async () => {
    api().persist().get(/./).reply(200, {});
    const { client, warnings, failures, onNoList } = setUpWarned();
    for (const list of [client.webhooks, client.webhooks, client.accounts])
      expect(await list.list({ onNoList }).all()).toEqual([]);
    expect(failures.map(({ endpoint }) => endpoint)).toEqual([
      "GET /api/v1/webhooks",
      "GET /api/v1/webhooks",
      "GET /api/v1/accounts",
    ]);
    expect(warnings.map(({ code, summary }) => `${code} ${summary}`)).toEqual([
      "api.no_list GET /api/v1/webhooks returned no list, so this run could not check its objects",
      "api.no_list GET /api/v1/accounts returned no list, so this run could not check its objects",
    ]);
    expect(await failureOf(client.webhooks.list().all())).toMatchObject({
      diagnostics: [{ code: "api.inconclusive" }],
    });
  });

  it("fails if an earlier page had rows", async () => {
    const rows = Array.from({ length: 100 }, (_, at) => service({ id: at + 1 }));
    api().get("/services?page=1&per_page=100").reply(200, rows);
    api().persist().get(/./).reply(200, {});
    const { client, warnings, onNoList } = setUpWarned();
    expect(await failureOf(client.services.list({ onNoList }).all())).toMatchObject({
      diagnostics: [{ code: "api.inconclusive" }],
    });
    expect(warnings).toEqual([]);
  });
});
