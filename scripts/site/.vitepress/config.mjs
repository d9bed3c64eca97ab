import { createHash } from "node:crypto";
import path from "node:path";
import process from "node:process";
import { anchorOf } from "../../../test/docs/markdown.ts";
import { navigation, PAGES, siteLink } from "../pages.ts";

const { from, base, version, others } = JSON.parse(process.env.HOSTFORM_SITE ?? "{}");

/** Allows only files of the site itself, and the two scripts in the head of each page. */
function policy(html) {
  const scripts = [...html.matchAll(/<script(?: id="[^"]*")?>([\s\S]*?)<\/script>/g)].map(
    ([, code = ""]) => `'sha256-${createHash("sha256").update(code).digest("base64")}'`,
  );
  return `default-src 'self'; script-src 'self' ${scripts.join(" ")}; style-src 'self' 'unsafe-inline'; img-src 'self' data:`;
}

const versionLink = (name) => ({
  text: name === ".." ? "Newest version" : name,
  link: `/${name}/`,
  target: "_self",
});

export default {
  title: "hostform",
  description: "Declare web-hosting accounts, see the plan, apply it.",
  lang: "en",
  base,
  srcDir: from,
  srcExclude: ["public/**"],
  rewrites: { "README.md": "index.md" },
  metaChunk: true,
  head: [["link", { rel: "icon", href: "data:," }]],
  // The theme links to the Markdown of a page as it is.
  vite: { define: { "import.meta.env.VITE_EXTRA_EXTENSIONS": '"md"' }, build: { target: "es2022" } },
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    anchor: { slugify: anchorOf },
    languageAlias: { mjs: "js", tf: "hcl", plan: "json" },
    config(md) {
      md.core.ruler.push("site", ({ tokens, env }) => {
        for (const [at, token] of tokens.entries()) {
          // A screen reader announces an empty heading.
          if (token.type === "th_open" && tokens[at + 1].content === "") token.tag = tokens[at + 2].tag = "td";
          // Text in a drawing has its natural size, so a narrow window scrolls. Keys scroll only an element with a tabindex.
          if (token.children?.some(({ type, attrs }) => type === "image" && /\.svg$/.test(attrs[0][1])))
            for (const [name, value] of [
              ["class", "drawing"],
              ["tabindex", "0"],
            ])
              tokens[at - 1].attrSet(name, value);
          for (const link of token.children?.filter(({ type }) => type === "link_open") ?? [])
            link.attrSet("href", siteLink(path.relative(from, env.path), link.attrGet("href")));
        }
      });
    },
  },
  themeConfig: {
    sidebar: navigation(),
    outline: [2, 3],
    search: {
      provider: "local",
      options: {
        // "lost" is not "host".
        miniSearch: { searchOptions: { fuzzy: 0.1 } },
        // Results are pages with tasks: no decisions and no sources.
        _render: (text, env, md) =>
          PAGES.has(path.relative(from, env.path)) && !env.path.includes("/decisions/0") ? md.render(text, env) : "",
      },
    },
    nav: [
      {
        text: "Example reports",
        items: [
          { text: "A plan, for its approval", link: "/see/plan-page.html", target: "_self" },
          { text: "The status of an account", link: "/see/status-page.html", target: "_self" },
        ],
      },
      { text: version, items: [{ text: "Changelog", link: "/CHANGELOG.html" }, ...others.map(versionLink)] },
    ],
    editLink: { pattern: `${base}:path`, text: "This page as Markdown" },
  },
  transformHead: ({ pageData }) => [
    ["link", { rel: "alternate", type: "text/markdown", href: `${base}${pageData.filePath}` }],
  ],
  transformHtml: (html) =>
    html.replace("<head>", `<head>\n    <meta http-equiv="Content-Security-Policy" content="${policy(html)}">`),
};
