/** The bodies of errors. Those of 403 and 422 are specified (§7), the others "not beyond status". */
import { STATUS_CODES } from "node:http";
import type { Profile } from "../profile/profile.ts";
import type { Refusal } from "../refusal.ts";
import { type Rendering, renderRefusal } from "./rendering.ts";

/** An error as it is sent. `body` undefined: none at all. */
export interface RefusedAnswer {
  status: number;
  body: string | undefined;
  headers: Record<string, string>;
}

type Said = Pick<Refusal, "status" | "body" | "headers">;

/** The answer of a refusal. */
export function shapeRefusal(
  { status, body, headers }: Said,
  profile: Profile,
  { refusals }: Rendering = {},
): RefusedAnswer {
  const answer = (text: string | undefined, type: string): RefusedAnswer => ({
    status,
    body: text,
    headers: text === undefined ? { ...headers } : { ...headers, "Content-Type": type },
  });
  switch (formOf(status, profile)) {
    case "json":
      return answer(JSON.stringify(renderRefusal(status, fieldErrors(body, profile), refusals)), "application/json");
    case "html":
      return answer(page(status), "text/html; charset=utf-8");
    case "text":
      return answer(body.message, "text/plain; charset=utf-8");
    case "empty":
      return answer(undefined, "");
  }
}

/** 403 has "a plain-text message field", 422 `{message, errors}`. */
function formOf(status: number, profile: Profile): "json" | "html" | "text" | "empty" {
  if (status === 403 || status === 422) return "json";
  return status === 429 ? profile.too_many : profile.error_bodies;
}

/** "Object of field errors" (§7): what stands under each field is not said. */
function fieldErrors(body: Said["body"], profile: Profile): { message: string; errors?: unknown } {
  if (body.errors === undefined || profile.field_errors === "lists") return body;
  const texts = Object.entries(body.errors).map(([field, sentences]) => [field, sentences.join(" ")]);
  return { ...body, errors: Object.fromEntries(texts) };
}

/** A page as a web server or a proxy in front of the API makes it. */
function page(status: number): string {
  const title = `${status} ${STATUS_CODES[status] ?? "Error"}`;
  return `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>${title}</title></head>
<body><h1>${title}</h1></body>
</html>
`;
}
