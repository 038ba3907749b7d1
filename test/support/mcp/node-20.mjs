// The conformance suite imports `globSync`, which Node.js 20 does not have, and does not call it here.
import { register } from "node:module";

const inJavaScript = (text) => `data:text/javascript,${encodeURIComponent(text)}`;
const fs = inJavaScript(`export * from "node:fs"; export const globSync = () => [];`);
register(
  inJavaScript(`
    export const resolve = (name, context, next) =>
      name === "fs" ? { url: ${JSON.stringify(fs)}, shortCircuit: true } : next(name, context);
  `),
);
