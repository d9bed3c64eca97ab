/** The comments of a pull request in GitHub's API, as far as the actions use it: pages of at most 100, and tokens. */
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { listening } from "./listening.ts";

export interface Comment {
  readonly id: number;
  readonly user: { readonly login: string };
  body: string | null;
}

/** Tokens and the login of each. */
const WRITERS: Readonly<Record<string, string>> = { ghs_write: "github-actions[bot]", ghs_app: "acme[bot]" };
/** Tokens that can only read, as in a workflow of a fork. */
const READERS = ["ghs_read"];

/** Starts the API with the comments of pull request 7 of acme/sites. */
export async function githubComments() {
  const comments: Comment[] = [];
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://github");
    const token = request.headers.authorization?.replace("Bearer ", "") ?? "";
    const answer = (status: number, body: object) => response.writeHead(status).end(JSON.stringify(body));
    const sent = await text(request);
    const login = WRITERS[token];
    if (login === undefined && !READERS.includes(token)) return answer(401, { message: "Bad credentials" });
    if (request.method === "GET" && pathname === "/repos/acme/sites/issues/7/comments") {
      const size = Math.min(100, Number(searchParams.get("per_page")));
      const end = Number(searchParams.get("page")) * size;
      return answer(200, comments.slice(end - size, end));
    }
    if (login === undefined) return answer(403, { message: "Resource not accessible by integration" });
    if (request.method === "GET") return answer(404, { message: "Not Found" });
    const { body } = JSON.parse(sent);
    if (body.length > 65_536) return answer(422, { message: "body is too long (maximum is 65536 characters)" });
    if (request.method === "POST" && pathname === "/repos/acme/sites/issues/7/comments") {
      comments.push({ id: comments.length + 1, user: { login }, body });
      return answer(201, { user: { login } });
    }
    const comment = comments.find(({ id }) => pathname === `/repos/acme/sites/issues/comments/${id}`);
    if (request.method !== "PATCH" || comment === undefined) return answer(404, { message: "Not Found" });
    comment.body = body;
    return answer(200, {});
  });
  return { url: await listening(server), comments };
}
