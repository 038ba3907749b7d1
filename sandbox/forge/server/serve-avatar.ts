import type { Request, Response } from "express";

/** A picture for every account: a disc whose colour comes from its id. */
export function serveAvatar(request: Request, response: Response): void {
  const id = Number(request.params["id"]);
  const hue = Number.isInteger(id) ? (id * 137) % 360 : 0;
  response.type("image/svg+xml").set("cache-control", "max-age=86400");
  response.send(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 80 80"><circle cx="40" cy="40" r="40" fill="hsl(${hue} 55% 60%)"/></svg>`,
  );
}
