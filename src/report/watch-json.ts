import { message, type UiMessage } from "./apply-json.ts";
import { escapeLine } from "./escape.ts";

/** The messages of `watch --json` that Terraform has no words for. What they tell stands under `hostform`. */
export type WatchMessage =
  /** It begins. */
  | {
      readonly type: "watch_start";
      readonly interval_seconds: number;
      readonly auto_approve: boolean;
      readonly listening: string | null;
    }
  /** A look begins. No targets: at everything. */
  | {
      readonly type: "watch_look";
      readonly look: number;
      readonly events: readonly string[];
      readonly targets: readonly string[];
    }
  /** A look has ended. `news`: something is other than at the look before. */
  | {
      readonly type: "watch_found";
      readonly look: number;
      readonly result: "as_declared" | "differs" | "refused" | "applied" | "incomplete" | "failed" | "widened";
      readonly news: boolean;
      readonly requests: number;
      readonly next_seconds: number | null;
    }
  /** A verified event has come. */
  | {
      readonly type: "watch_event";
      readonly event: string;
      readonly service: string | null;
      readonly invoice: string | null;
    }
  /** Deliveries were refused. */
  | { readonly type: "watch_refused"; readonly reason: string; readonly count: number }
  /** Events named what is not in the state. */
  | { readonly type: "watch_stranger"; readonly events: readonly string[] }
  /** What was put right does not stay so. */
  | {
      readonly type: "watch_contended";
      readonly addresses: readonly string[];
      readonly times: number;
      readonly held_seconds: number;
    }
  /** The declaration has changed, and is read until it stays the same. */
  | { readonly type: "watch_settling" }
  /** SIGHUP: the declaration is read again, and everything is looked at. */
  | { readonly type: "watch_reload" }
  /** It ends. */
  | { readonly type: "watch_end"; readonly looks: number; readonly reason: "interrupted" | "max_runs" };

/** @param text the same for people. @param now milliseconds since the epoch. */
export function watchMessage({ type, ...told }: WatchMessage, text: string, now: number): UiMessage {
  const level =
    type === "watch_refused" || type === "watch_contended" || ("result" in told && told.result === "failed")
      ? "warn"
      : "info";
  return message(now, level, escapeLine(text), type, { hostform: told });
}
