import { defineConfig, type Plugin } from "vite";

/** Where `npm run dev:console` finds the service. */
const SERVICE = "http://127.0.0.1:3000";

/** The build decides which style sheet a page reads first, so each of them states the order of the layers. */
const layerOrder: Plugin = {
  name: "layer-order",
  enforce: "pre",
  transform: (code, id) =>
    id.endsWith(".css") ? `@layer tokens, base, components, screens;\n${code}` : undefined,
};

export default defineConfig({
  plugins: [layerOrder],
  root: import.meta.dirname,
  logLevel: "warn",
  oxc: { jsx: { runtime: "automatic" } },
  build: {
    outDir: "../dist/console",
    emptyOutDir: true,
    target: "es2023",
    // Inlined files become `data:` addresses, which the Content-Security-Policy refuses.
    assetsInlineLimit: 0,
    // The polyfill is an inline script, and every supported browser has `modulepreload`.
    modulePreload: { polyfill: false },
    manifest: true,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // What most screens share is one file: many small ones compress worse, and the first screen loads all of them.
          groups: [
            {
              name: "shared",
              test: /\/console\/(?:api\/(?!use-pages)|card-chip|components\/(?:badge|button|choice|field|icon|states)|board\/(?:moves\/|drop-preview|merge-question)|text\/(?:time|rule))/,
            },
          ],
        },
      },
      // `"use client"` in the libraries means nothing here.
      onLog: (level, log, report) => void (log.code !== "MODULE_LEVEL_DIRECTIVE" && report(level, log)),
    },
  },
  server: {
    port: 5173,
    strictPort: true,
    proxy: { "^/(console/|docs)": { target: SERVICE } },
  },
});
