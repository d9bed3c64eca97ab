import type { RollingWindow } from "./rolling-window.ts";

/** What a window is kept in. In a file of its own: the published types refer to it, and must not need `node:sqlite`. */
export interface WindowKeeper {
  /**
   * Reads the window, lets it be changed, and writes it down, in one step for all processes.
   * @param change may be called again when the first time came to nothing, with another window.
   * @throws the system's or SQLite's own error; nothing was changed then.
   */
  update<T>(change: (window: RollingWindow) => T): T;
  /** As it was written last from here. */
  last(): RollingWindow;
  close(): void;
}
