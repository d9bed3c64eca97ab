import type { ApiRequest, Handler, Reply } from "./exchange.ts";

/** §5.1 and §4: the headers that every request carries. Closest to the wire, so that no other handler sees the token. */
export function authorize(credentials: { token: string; userAgent: string }, next: Handler<Reply>): Handler<Reply> {
  const common = {
    accept: "application/json",
    authorization: `Bearer ${credentials.token}`,
    "user-agent": credentials.userAgent,
  };
  return (request: ApiRequest) => next({ ...request, headers: { ...request.headers, ...common } });
}
