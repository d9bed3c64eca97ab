import { withBase } from "vitepress";
import theme from "vitepress/theme-without-fonts";
import { h } from "vue";
import "./style.css";

// The theme's own page for a wrong address has no landmark.
const notFound = () =>
  h("main", { class: "vp-doc not-found" }, [
    h("h1", "Page not found"),
    h("p", h("a", { href: withBase("/docs/README.html") }, "Documentation")),
  ]);

export default { extends: theme, Layout: () => h(theme.Layout, null, { "not-found": notFound }) };
