import { createHash } from "node:crypto";
import { Html } from "./html.ts";

const style = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --accent: #0b66c3; --ink: #1d2530; --paper: #fff; }
@media (prefers-color-scheme: dark) { :root { --accent: #6cb6ff; --ink: #d8dee6; --paper: #14181d; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper); display: grid; grid-template-columns: 17rem minmax(0, 1fr); }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem 1rem; border-right: 1px solid var(--line); font-size: .875rem; }
nav ul { list-style: none; margin: 0 0 1rem; padding: 0; }
nav a { display: block; padding: .15rem .4rem; color: inherit; text-decoration: none; border-radius: 4px; }
nav a:hover, nav a:focus { background: var(--soft); }
nav h2 { font-size: .8rem; margin: 1rem .4rem .25rem; text-transform: uppercase; letter-spacing: .05em; border: 0; padding: 0; }
main { padding: 2rem clamp(1rem, 4vw, 3.5rem) 6rem; max-width: 62rem; }
a { color: var(--accent); }
h1 { margin: 0 0 .25rem; font-size: 2rem; }
h2 { margin: 3rem 0 1rem; padding-bottom: .3rem; border-bottom: 1px solid var(--line); }
h3 { margin: 0 0 .25rem; }
h4 { margin: 1.25rem 0 .4rem; font-size: .9rem; }
h5 { margin: .75rem 0 .25rem; font-size: .85rem; }
article { padding: 1.5rem 0; border-bottom: 1px solid var(--line); }
code, pre { font: .85em/1.5 ui-monospace, Menlo, Consolas, monospace; }
code { overflow-wrap: anywhere; }
pre { margin: .5rem 0; padding: .75rem 1rem; overflow-x: auto; background: var(--soft); border: 1px solid var(--line); border-radius: 6px; }
.call { margin: 0 0 .5rem; }
.call b { font: 700 .75rem ui-monospace, monospace; padding: .15rem .45rem; border: 1px solid currentColor; border-radius: 4px; }
.get { color: #1a7f37; } .post { color: #0b66c3; } .put, .patch { color: #9a6700; } .delete { color: #cf222e; }
@media (prefers-color-scheme: dark) { .get { color: #56d364; } .post { color: #6cb6ff; } .put, .patch { color: #e3b341; } .delete { color: #ff7b72; } }
.table { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); font-weight: 400; }
thead th { font-weight: 600; }
th[scope=row] { width: 30%; } td:nth-child(2) { width: 30%; }
small { opacity: .8; }
details { margin: .4rem 0; padding: .4rem .75rem; border: 1px solid var(--line); border-radius: 6px; }
summary { cursor: pointer; }
dt { margin-top: .75rem; font-weight: 600; }
dd { margin: 0 0 0 1.25rem; }
.skip { position: absolute; left: -100vw; } .skip:focus { left: 1rem; top: 1rem; background: var(--paper); }
@media (min-width: 50.01rem) { nav details { display: none; } }
@media (max-width: 50rem) { body { display: block; } nav { position: static; height: auto; border: 0; padding-bottom: 0; } nav > div { display: none; } }
@media print { nav { display: none; } body { display: block; } }
`;

/**
 * The inline style. The policy allows it by its hash, so it must be the exact content of the
 * element.
 */
export const styleElement = new Html(`<style>${style}</style>`);

/** The source expression of the style in a Content-Security-Policy. */
export const styleHash = `'sha256-${createHash("sha256").update(style).digest("base64")}'`;
