/** How the verdict on a statement is put together. */
import { type ApiError, type ContractCheck, remedyText } from "../../core/model/index.ts";
import { maskText } from "../excerpt.ts";

export type Outcome = Pick<ContractCheck, "verdict" | "detail" | "fix">;

export const pass = (detail?: string): Outcome => ({ verdict: "pass", ...(detail !== undefined && { detail }) });
export const unseen = (detail: string): Outcome => ({ verdict: "not_seen", detail });
export const differs = (detail: string, fix?: string): Outcome => ({
  verdict: "differs",
  detail,
  ...(fix !== undefined && { fix }),
});
export const stops = (detail: string, fix?: string): Outcome => ({
  verdict: "stops",
  detail,
  ...(fix !== undefined && { fix }),
});

/** A statement of the specification and what came of it. */
export function check(id: string, clause: string, says: string, outcome: Outcome): ContractCheck {
  return { id, clause, says, ...outcome };
}

/** What the client tells of a failure, without data of customers: the server's own sentences may name them. */
export function told({ diagnostics: [first], serverMessage, fieldErrors }: ApiError): {
  readonly detail: string;
  readonly fix?: string;
} {
  if (first === undefined) return { detail: "It failed." };
  const { summary, detail, remedies } = first;
  const fix = remedyText(remedies);
  const speaks = serverMessage !== undefined || Object.keys(fieldErrors).length > 0;
  const more = speaks ? "What the server says of it is not shown here." : detail;
  const text = more === undefined ? `${summary}.` : `${summary}. ${more}`;
  return { detail: maskText(text), ...(fix !== undefined && { fix }) };
}
