// `npm run pictures`: the pictures of README and docs, from golden plans, a sandbox and the command line, through Chromium.
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { openBrowser, openPage } from "../test/support/browser.ts";
import { allPictures, FIRST_MINUTE, FOLDER, hashOf, RECORD } from "./pictures/pictures.ts";
import { firstMinute } from "./pictures/terminal.ts";

/** As much of an element as is needed here; the project has no types of browsers. */
interface Box {
  getBoundingClientRect(): { readonly bottom: number };
}

await mkdir(FOLDER, { recursive: true });
await writeFile(path.join(FOLDER, FIRST_MINUTE), await firstMinute());
const browser = await openBrowser();
const { pictures, close } = await allPictures();
try {
  for (const { name, width, height, dark, source, url } of pictures) {
    const viewport = typeof height === "number" ? height : 1000;
    const { page } = await openPage(browser, { width, height: viewport, dark }, () => undefined);
    if (url === undefined) await page.setContent(source);
    else await page.goto(url);
    const end =
      typeof height === "number"
        ? height
        : await page.$eval(height, (last) => Math.ceil((last as unknown as Box).getBoundingClientRect().bottom) + 16);
    const image = await page.screenshot({ type: "webp", quality: 82, clip: { x: 0, y: 0, width, height: end } });
    await writeFile(path.join(FOLDER, name), image);
    await page.close();
    console.log(`${name}: ${Math.ceil(image.length / 1024)} KB`);
  }
  const record = Object.fromEntries(pictures.map((picture) => [picture.name, hashOf(picture)]));
  await writeFile(path.join(FOLDER, RECORD), `${JSON.stringify(record, null, 2)}\n`);
} finally {
  await browser.close();
  await close();
}
