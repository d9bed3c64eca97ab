// The pictures of README and docs: what is in each, and what it is made from.
import { createHash } from "node:crypto";
import path from "node:path";
import { agencyPlan } from "./agency.ts";
import { commentPage } from "./comment.ts";
import { dashboardPictures } from "./dashboard.ts";

export const FOLDER = path.resolve(import.meta.dirname, "../../docs/images");
/** Beside the pictures: of each the hash of what it was made from. */
export const RECORD = "made-from.json";
/** The first minute at a terminal. */
export const FIRST_MINUTE = "first-minute.svg";

export interface Picture {
  /** The file in {@link FOLDER}. */
  readonly name: string;
  readonly width: number;
  /** In pixels; or a selector, after the first of which it ends. */
  readonly height: number | string;
  readonly dark: boolean;
  /** What it is made from: another source makes another picture. */
  readonly source: string;
  /** The address of the page; absent: the source is the page. */
  readonly url?: string;
}

/** All pictures that a browser takes. The sandbox behind some of them runs until `close`. */
export async function allPictures(): Promise<{ pictures: Picture[]; close(): Promise<void> }> {
  const shape = { width: 1100, dark: false };
  const { html, markdown } = await agencyPlan();
  const { pictures, close } = await dashboardPictures();
  return {
    pictures: [
      { ...shape, name: "plan-page.webp", height: "section:nth-of-type(2)", source: html },
      {
        ...shape,
        name: "plan-comment.webp",
        height: "table:nth-of-type(2)",
        source: commentPage(markdown),
      },
      ...pictures,
    ],
    close,
  };
}

export const hashOf = ({ source, width, height, dark }: Picture): string =>
  createHash("sha256")
    .update(JSON.stringify([source, width, height, dark]))
    .digest("hex");
