import { IncomingMessage, ServerResponse, type ServerOptions } from "node:http";
import type { Express, Request, Response } from "express";

/** What a server makes its requests and responses with. */
export type Messages = Required<Pick<ServerOptions, "IncomingMessage" | "ServerResponse">>;

/**
 * Node's requests and responses, born with what express gives them. Given later, as express does by itself, it makes each of them a shape of its own in V8's eyes, and every
 * access to it is looked up anew, some 120 times a request: of the processor time that reading a card over 16 connections took node, 127 µs, it was 59.
 */
export function messagesOf(app: Express): Messages {
  class ExpressRequest extends IncomingMessage {}
  class ExpressResponse<Of extends IncomingMessage = IncomingMessage> extends ServerResponse<Of> {}
  // Express leaves alone what has the prototype that it would give.
  app.request = Object.setPrototypeOf(ExpressRequest.prototype, app.request) as Request;
  app.response = Object.setPrototypeOf(ExpressResponse.prototype, app.response) as Response;
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
}
