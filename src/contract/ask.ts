/** Sends one request and reads its answer as the client would. */
import { nextOf, nextSigns, readPage } from "../core/api/envelope.ts";
import { type Form, readRecord } from "../core/api/forms.ts";
import { formOf, malformed } from "../core/api/malformed.ts";
import { type ProbeRequest, type Prober, probeTitle } from "../core/api/probe.ts";
import { takeOne } from "../core/api/unwrap.ts";
import { ApiError, type JsonObject } from "../core/model/index.ts";
import type { ListSight, RecordSight, Sight } from "./sight.ts";

/** Asks the server; the signal ends it. */
export class Asker {
  readonly #prober: Pick<Prober, "probe">;
  readonly #signal: AbortSignal | undefined;

  constructor(prober: Pick<Prober, "probe">, signal?: AbortSignal) {
    this.#prober = prober;
    this.#signal = signal;
  }

  /** The same, to be ended by nobody: for what must be undone. */
  uninterrupted(): Asker {
    return new Asker(this.#prober);
  }

  /** One request. A failure is a sight too; only an interruption is thrown. */
  async one(request: ProbeRequest): Promise<Sight> {
    const sight = { endpoint: request.endpoint, title: probeTitle(request) };
    try {
      const answer = await this.#prober.probe({ ...request, signal: this.#signal });
      return { ...sight, answer, problem: answer.refusal };
    } catch (error) {
      this.#signal?.throwIfAborted();
      if (!(error instanceof ApiError)) throw error;
      return { ...sight, answer: undefined, problem: error };
    }
  }

  /** One page of a listing. `start` is the number of its first page. */
  async list<T extends { readonly id: string; readonly raw: JsonObject }>(
    request: ProbeRequest,
    form: Form<T>,
    start: 0 | 1 = 1,
  ): Promise<ListSight> {
    const sight = await this.one(request);
    const none: ListSight = { ...sight, items: [], records: [], ids: [], next: undefined, size: undefined };
    if (sight.answer === undefined || sight.problem !== undefined) return none;
    const { endpoint } = request;
    const page = Number(request.query?.find(([name]) => name === "page")?.[1] ?? start);
    const size = Number(request.query?.find(([name]) => name === "per_page")?.[1] ?? 0);
    return whenReadable(none, () => {
      const read = readPage(endpoint, form, sight.answer?.json);
      const records = read.items.map((item) => {
        const result = readRecord(form, item);
        if ("problem" in result) throw malformed(endpoint, { expected: result.problem, came: formOf(item) });
        return { id: result.record.id, record: result.record.raw };
      });
      return {
        ...none,
        items: read.items,
        records: records.map(({ record }) => record),
        ids: records.map(({ id }) => id),
        next: nextOf(
          nextSigns(read, { asked: page, pages: page - start + 1, rows: (page - start) * size + read.items.length }),
        ),
        size: read.size,
      };
    });
  }

  /** One record by its id. */
  async record<T extends { readonly id: string; readonly raw: JsonObject }>(
    request: ProbeRequest & { readonly params: { readonly id: string } },
    form: Form<T>,
  ): Promise<RecordSight> {
    const sight = await this.one(request);
    const none: RecordSight = { ...sight, record: undefined, id: undefined, asked: request.params.id };
    if (sight.answer === undefined || sight.problem !== undefined) return none;
    return whenReadable(none, () => {
      const { id, raw } = takeOne(request.endpoint, form, sight.answer?.json);
      return { ...none, id, record: raw };
    });
  }
}

/** What the client could not read is a problem of the sight. */
function whenReadable<S extends Sight>(unread: S, read: () => S): S {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { ...unread, problem: error };
  }
}
