import { openApiDocument } from "../http/openapi.ts";
import { routes } from "../http/v1/routes.ts";
import type { Command } from "./command.ts";

/** `openapi`: the OpenAPI document of what is served, as it is committed. */
export const openapi: Command = {
  name: "openapi",
  about: "Prints the API's document",
  usage: ["openapi"],
  run: (_args, context) => {
    context.print(JSON.stringify(openApiDocument(routes), null, 2));
    return Promise.resolve();
  },
};
