/** What is new, sent to an open page as server-sent events: whole parts of the page, rendered here, only when they changed. */
import { Refusal } from "../refusal.ts";
import type { Page, Visit } from "./page.ts";
import { topClock } from "./parts/layout.ts";
import { visible } from "./parts/text.ts";

const EVERY_MS = 700;
/** Looking takes at most the tenth part of the time: a sandbox with a hundred thousand services has other things to do. */
const REST = 10;

/** The parts of a page that are sent, by the ids of their elements. */
async function partsOf(page: Page, visit: Visit): Promise<Map<string, string>> {
  const parts = new Map<string, string>();
  for (const [id, part] of Object.entries({ "top-clock": topClock, ...page.live })) {
    parts.set(id, visible(String(await part(visit))));
  }
  return parts;
}

/** Nothing for a page whose record is gone meanwhile: what it shows stays until it is reloaded. */
async function partsNow(page: Page, visit: () => Visit): Promise<Map<string, string>> {
  try {
    return await partsOf(page, visit());
  } catch (error) {
    if (error instanceof Refusal) return new Map();
    throw error;
  }
}

/**
 * The stream for one open page. Its timer belongs to the page, not to the sandbox's time: it looks, and moves nothing but
 * what is due anyway. It ends with the connection.
 * @param visit looks anew, each time.
 */
export function liveStream(page: Page, visit: () => Visit, everyMs: number = EVERY_MS): Response {
  let left = false;
  let timer: NodeJS.Timeout | undefined;
  const sent = new Map<string, string>();
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      const look = async (): Promise<void> => {
        const begun = performance.now();
        // A reader that is slow gets the next state, not all of them.
        if ((controller.desiredSize ?? 0) > 0) {
          const news: Record<string, string> = {};
          for (const [id, markup] of await partsNow(page, visit)) {
            if (sent.get(id) !== markup) news[id] = markup;
            sent.set(id, markup);
          }
          if (left) return;
          if (Object.keys(news).length > 0) controller.enqueue(encoder.encode(`data: ${JSON.stringify(news)}\n\n`));
        }
        const rest = Math.max(everyMs, REST * (performance.now() - begun));
        // What fails here fails the stream alone; the browser asks again.
        timer = setTimeout(() => void look().catch((error) => left || controller.error(error)), rest).unref();
      };
      await look();
    },
    cancel() {
      left = true;
      clearTimeout(timer);
    },
  });
  return new Response(body, { headers: { "Content-Type": "text/event-stream", "Cache-Control": "no-store" } });
}
