/**
 * Validates requests and responses of the API against `schemas/openapi.yaml`. The errors never quote a value, because
 * requests and responses contain tokens and secrets.
 */
import {
  type Answer,
  type ApiDocument,
  operationsOf,
  type Parameter,
  type Placed,
  readDocument,
  resolve,
  type Schema,
} from "./document.ts";
import { pageMistakes } from "./pages.ts";
import { holds, type Known, Schemas } from "./schemas.ts";

/** A request and its response, as they were sent. Header names have any case. */
export interface Exchange {
  readonly method: string;
  /** Path with query. */
  readonly url: string;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly requestBody: string | undefined;
  /** Status of the response. Null if the connection was cut before a response. */
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** True if a fault changed the response. Then the response may violate the document. */
  readonly faulty?: boolean;
}

export interface Strictness {
  /** Profile of the server. Undefined: any alternative of the document is valid. */
  readonly profile?: Known;
  /** True if the requests of a client are validated, which may contain no error, regardless of the response. */
  readonly client?: boolean;
}

export class Validator {
  readonly #document: ApiDocument;
  readonly #schemas: Schemas;
  readonly #operations: readonly { placed: Placed; pattern: RegExp }[];

  constructor(document: ApiDocument = readDocument()) {
    this.#document = document;
    this.#schemas = new Schemas(document);
    this.#operations = operationsOf(document)
      .toSorted((a, b) => depthOf(a) - depthOf(b))
      .map((placed) => ({
        placed,
        pattern: new RegExp(`^${placed.path.replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`),
      }));
  }

  /** Returns every violation of the document as a sentence that names the request. Ignores paths outside of /api. */
  exchange(exchange: Exchange, { profile, client = false }: Strictness = {}): string[] {
    const { method, status } = exchange;
    const url = new URL(exchange.url, "http://host");
    if (!url.pathname.startsWith("/api/")) return [];
    const found = this.find(method, url.pathname);
    const said = (problems: readonly string[], what: string) =>
      problems.map((problem) => `${method} ${url.pathname} → ${status ?? "cut"}: ${what}${problem}`);
    if (found === undefined) {
      if (client) return said(["there is no such operation"], "");
      const refused = status === null || exchange.faulty || (status >= 400 && status < 500);
      return refused ? [] : said(["there is no such operation, which only a 4xx says"], "");
    }
    const problems = this.#request(found, exchange, url, { profile, client });
    const accepted = status !== null && status >= 200 && status < 300 && !exchange.faulty;
    const accused = client || accepted ? said(problems, client ? "the request: " : "accepted, though ") : [];
    if (status === null || exchange.faulty) return accused;
    const answer = this.#answer(found.placed, exchange, status, profile);
    const page = status === 200 && answer.length === 0 ? parsed(exchange.body ?? "") : undefined;
    return [
      ...accused,
      ...said([...answer, ...(page ? pageMistakes(found.placed, url, page.value, profile) : [])], ""),
    ];
  }

  /**
   * Returns the errors in a delivery of an event: in its payload and, if headers are given, in the form of its
   * signature header.
   */
  delivery(body: string, headers: Readonly<Record<string, string>> | undefined, profile?: Known): string[] {
    const registration = this.#document.paths["/api/v1/webhooks"]?.post;
    const operation = Object.values(registration?.callbacks?.event ?? {})[0]?.post;
    if (operation?.requestBody === undefined) throw new Error("The document does not describe deliveries.");
    const schema = operation.requestBody.content["application/json"]?.schema ?? {};
    const mistakes = this.#json(schema, body, profile);
    const missing = (headers && operation.parameters ? operation.parameters : []).flatMap((parameter) => {
      const value = headerOf(headers ?? {}, parameter.name);
      if (value === undefined) return [`the header ${parameter.name} is missing`];
      return this.#schemas.mistakes(parameter.schema, value, `header ${parameter.name}`, profile);
    });
    return [...mistakes, ...missing].map((mistake) => `delivery: ${mistake}`);
  }

  /** Returns the operation of a method and path, with the values of the path's parameters. */
  find(method: string, pathname: string): { placed: Placed; values: Record<string, string> } | undefined {
    for (const { placed, pattern } of this.#operations) {
      if (placed.method !== method) continue;
      const match = pattern.exec(pathname);
      if (match !== null) return { placed, values: { ...match.groups } };
    }
    return undefined;
  }

  #request(
    { placed, values }: { placed: Placed; values: Record<string, string> },
    exchange: Exchange,
    url: URL,
    { profile, client }: Strictness,
  ): string[] {
    const problems: string[] = [];
    if (!/^Bearer \S+$/.test(headerOf(exchange.requestHeaders, "authorization") ?? "")) {
      problems.push("it carries no bearer token");
    }
    const accept = headerOf(exchange.requestHeaders, "accept") ?? "";
    if (client && !accept.includes("application/json")) problems.push("it does not accept application/json (§4)");
    for (const parameter of placed.parameters) {
      const given = valuesOf(parameter, exchange, url, values);
      // A client does not know the profile of the server, so it may send any alternative.
      problems.push(...this.#parameter(parameter, given, client ? undefined : profile, client));
    }
    const known = placed.parameters.filter((one) => one.in === "query").map(({ name }) => name);
    for (const name of new Set(url.searchParams.keys())) {
      // A server may accept undocumented parameters (§9.2) and ignore them. A client with such a parameter has an
      // error that nobody notices.
      if (client && !known.includes(name)) problems.push(`the query parameter ${name} is not documented`);
    }
    return [...problems, ...this.#requestBody(placed, exchange, profile, client)];
  }

  #parameter(parameter: Parameter, given: readonly string[], profile: Known, client = false): string[] {
    const { name, required, schema, "x-maximum": most } = parameter;
    const what = `${parameter.in} parameter ${name}`;
    if (given.length === 0) return required ? [`the ${what} is missing`] : [];
    if (schema.type === "array") return this.#schemas.mistakes(schema, given, what, profile);
    const text = given.at(-1) ?? "";
    // For servers, a page size above the maximum is not specified. A client must not send such a page size.
    if (client && most !== undefined && Number(text) > most) return [`the ${what} is above ${most}`];
    return this.#text(schema, text, what, profile);
  }

  /** Validates a value that was sent as text. The text may represent a number. */
  #text(schema: Schema, text: string, what: string, profile: Known): string[] {
    const asText = this.#schemas.mistakes(schema, text, what, profile);
    if (asText.length === 0 || !/^-?\d{1,15}$/.test(text)) return asText;
    return this.#schemas.mistakes(schema, Number(text), what, profile);
  }

  #requestBody({ operation }: Placed, exchange: Exchange, profile: Known, client = false): string[] {
    const { requestBody: wanted } = operation;
    const body = exchange.requestBody === "" ? undefined : exchange.requestBody;
    if (body === undefined) return wanted?.required ? ["the body is missing"] : [];
    if (wanted === undefined) return client ? ["it has a body, and none is documented"] : [];
    // §4 does not require this header for every request, but a client should send it.
    if (client && !/^application\/json\b/.test(headerOf(exchange.requestHeaders, "content-type") ?? "")) {
      return ["its body is not declared as application/json"];
    }
    const schema = wanted.content["application/json"]?.schema ?? {};
    return [...this.#json(schema, body, profile), ...(client ? this.#strays(schema, body) : [])];
  }

  /** Returns the undocumented fields of a body. A server may ignore them, so nobody would notice the client's error. */
  #strays(schema: Schema, body: string): string[] {
    const known = new Set<string>();
    const collect = (part: Schema): boolean => {
      const { properties, additionalProperties, allOf, anyOf } = resolve(this.#document, part);
      for (const name of Object.keys(properties ?? {})) known.add(name);
      return additionalProperties !== undefined || [...(allOf ?? []), ...(anyOf ?? [])].map(collect).includes(true);
    };
    if (collect(schema)) return [];
    const given = Object.keys((parsed(body)?.value ?? {}) as object);
    return given.filter((name) => !known.has(name)).map((name) => `the field ${name} is not documented`);
  }

  #answer({ operation }: Placed, exchange: Exchange, status: number, profile: Known): string[] {
    const { responses } = operation;
    const listed = responses[String(status)] ?? responses[`${Math.floor(status / 100)}XX`];
    if (listed === undefined) return [`the status is not documented: ${Object.keys(responses).join(", ")} are`];
    const answer = resolve(this.#document, listed);
    if (!holds(answer["x-when"], profile)) return ["the status does not belong to this profile"];
    return [...this.#headers(answer, exchange, profile), ...this.#answerBody(answer, exchange, profile)];
  }

  #headers(answer: Answer, exchange: Exchange, profile: Known): string[] {
    return Object.entries(answer.headers ?? {}).flatMap(([name, listed]) => {
      const header = resolve(this.#document, listed);
      const value = headerOf(exchange.headers, name);
      if (value === undefined) return [];
      if (!holds(header["x-when"], profile)) return [`the header ${name} does not belong to this profile`];
      return this.#text(header.schema, value, `header ${name}`, profile);
    });
  }

  #answerBody(answer: Answer, exchange: Exchange, profile: Known): string[] {
    const { body = "" } = exchange;
    const { content } = answer;
    if (content === undefined) return body === "" ? [] : ["it has a body, and none is documented"];
    if (body === "") {
      const empty = answer["x-empty-body"];
      return empty !== undefined && holds(empty, profile) ? [] : ["the body is missing"];
    }
    const type = (headerOf(exchange.headers, "content-type") ?? "").split(";")[0] ?? "";
    const media = content[type];
    if (media === undefined) return [`its type "${type}" is not documented: ${Object.keys(content).join(", ")} are`];
    if (!holds(media["x-when"], profile)) return [`its type "${type}" does not belong to this profile`];
    return type === "application/json" ? this.#json(media.schema, body, profile) : [];
  }

  #json(schema: Schema, body: string, profile: Known): string[] {
    const read = parsed(body);
    return read === undefined ? ["the body is not JSON"] : this.#schemas.mistakes(schema, read.value, "body", profile);
  }
}

function depthOf({ path }: Placed): number {
  // `/domains/check` has priority over a future `/domains/{id}`.
  return path.split("{").length;
}

function valuesOf(
  { in: place, name }: Parameter,
  exchange: Exchange,
  url: URL,
  path: Record<string, string>,
): string[] {
  if (place === "query") return url.searchParams.getAll(name);
  const value = place === "path" ? path[name] : headerOf(exchange.requestHeaders, name)?.trim();
  return value === undefined || value === "" ? [] : [decoded(value)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function headerOf(headers: Readonly<Record<string, string>>, name: string): string | undefined {
  const wanted = name.toLowerCase();
  return Object.entries(headers).find(([one]) => one.toLowerCase() === wanted)?.[1];
}

function parsed(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

let shared: Validator | undefined;

/** Returns the validator of `schemas/openapi.yaml`. A process creates it once. */
export function validator(): Validator {
  shared ??= new Validator();
  return shared;
}

/** Returns every violation of `schemas/openapi.yaml` by a request or its response, one sentence each. */
export function validateExchange(exchange: Exchange, strictness: Strictness = {}): string[] {
  return validator().exchange(exchange, strictness);
}
