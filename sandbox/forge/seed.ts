import type { ForgeContext } from "./context.ts";
import { createApp, makePrivateKey, type AppChoices } from "./app-identity.ts";
import { makeWorld } from "./world.ts";

const USERS = [
  { login: "ada", name: "Ada Lovelace", role: "admin", type: "User" },
  { login: "grace", name: "Grace Hopper", role: "member", type: "User" },
  { login: "copilot-swe-agent[bot]", name: null, role: "member", type: "Bot" },
  { login: "alan", name: "Alan Turing", role: "member", type: "User" },
] as const;

/** Creates the App, an organization and users; unless `empty`, repositories and an installation. */
export async function seed(forge: ForgeContext, app: Partial<AppChoices>, empty: boolean): Promise<void> {
  deletePartialSeed(forge);
  // The key takes about 100 ms and is created in parallel with the repositories.
  const key = app.privateKey ?? makePrivateKey();
  const world = makeWorld(forge);
  const acme = world.createOrganization("acme");
  for (const { login, name, role, type } of USERS)
    world.createUser(login, { type, organizations: { acme: role }, ...(name === null ? {} : { name }) });
  if (!empty)
    await Promise.all([
      world.createRepository("acme", "web", { description: "The shop's website", commits: WEB }),
      world.createRepository("acme", "api", { description: "The shop's API", commits: API }),
    ]);
  createApp(forge.state, acme.id, { ...app, privateKey: await key }, forge.now());
  if (!empty) world.installApp("acme", "all");
}

/** Deletes what a killed first start created. */
function deletePartialSeed({ state, git }: ForgeContext): void {
  for (const { id } of state.repositories.all()) git.remove(id);
  for (const table of [state.repositories, state.tokens, state.accounts])
    for (const { id } of table.all()) table.delete(id);
}

const WEB = [
  {
    message: "Initial commit",
    files: { "README.md": "# web\n\nThe shop's website.\n", ".gitignore": "node_modules/\ndist/\n" },
  },
  {
    message: "Show the catalogue",
    files: {
      "package.json": '{\n  "name": "web",\n  "private": true,\n  "type": "module"\n}\n',
      "src/catalogue.js":
        'import { fetchProducts } from "./client.js";\n\nexport async function showCatalogue(element) {\n  const products = await fetchProducts();\n  element.replaceChildren(...products.map((product) => new Option(product.name)));\n}\n',
      "src/client.js":
        'export async function fetchProducts() {\n  const answer = await fetch("/api/products");\n  return answer.json();\n}\n',
    },
  },
  {
    message:
      "Show a message when the catalogue is empty\n\nAn empty list looked like a page that had not loaded.",
    files: {
      "src/catalogue.js":
        'import { fetchProducts } from "./client.js";\n\nexport async function showCatalogue(element) {\n  const products = await fetchProducts();\n  if (products.length === 0) element.textContent = "Nothing for sale today.";\n  else element.replaceChildren(...products.map((product) => new Option(product.name)));\n}\n',
    },
  },
];

const API = [
  { message: "Initial commit", files: { "README.md": "# api\n\nThe shop's API.\n" } },
  {
    message: "List products",
    files: {
      "src/products.js":
        'const products = [{ id: 1, name: "Lantern" }, { id: 2, name: "Anvil" }];\n\nexport function listProducts() {\n  return products;\n}\n',
    },
  },
  {
    message: "Find a product by its id",
    files: {
      "src/find-product.js":
        'import { listProducts } from "./products.js";\n\nexport function findProduct(id) {\n  return listProducts().find((product) => product.id === id) ?? null;\n}\n',
    },
  },
];
