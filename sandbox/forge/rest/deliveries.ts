import type { DeliveryRow } from "../rows.ts";
import { notFound, unprocessable } from "../server/api-error.ts";
import { pageOf } from "../server/paging.ts";
import { ok, route, type RestCall } from "../server/route.ts";
import { appOf } from "./app.ts";

export const deliveryRoutes = [
  route("GET", "/app/hook/config", "app", readConfig),
  route("PATCH", "/app/hook/config", "app", changeConfig),
  route("GET", "/app/hook/deliveries", "app", list),
  route("GET", "/app/hook/deliveries/{delivery_id}", "app", readOne),
  route("POST", "/app/hook/deliveries/{delivery_id}/attempts", "app", redeliver),
];

function readConfig({ forge }: RestCall) {
  return ok({ content_type: "json", insecure_ssl: "0", secret: "********", url: forge.webhooks.url ?? "" });
}

function changeConfig(call: RestCall) {
  const { url } = call.fields;
  if (url !== undefined && typeof url !== "string") throw unprocessable("url is not a string");
  if (url !== undefined) call.forge.webhooks.url = url;
  return readConfig(call);
}

function deliveryOf(call: RestCall): DeliveryRow {
  appOf(call);
  const delivery = call.forge.state.deliveries.get(Number(call.params["delivery_id"]));
  if (delivery === undefined || delivery.deliveredAt === null) throw notFound();
  return delivery;
}

/** Newest first; `cursor` continues after a delivery. Lists finished attempts only. */
function list(call: RestCall) {
  const { forge, query, url } = call;
  const { size } = pageOf(query);
  const cursor = query.get("cursor");
  const below = cursor === null ? Number.POSITIVE_INFINITY : Number(cursor.replace(/^v1_/, ""));
  if (Number.isNaN(below)) throw unprocessable("cursor is not valid");
  const status = query.get("status");
  const all = forge.state.deliveries.all().filter((each) => each.deliveredAt !== null && each.id < below);
  const chosen = all.filter((each) => hasStatus(each, status)).toReversed();
  const page = chosen.slice(0, size);
  const last = page.at(-1);
  if (last === undefined || chosen.length <= size) return ok(page.map(presentDeliveryItem));
  const next = new URL(url);
  next.searchParams.set("cursor", `v1_${last.id}`);
  return ok(page.map(presentDeliveryItem), { link: `<${next.href}>; rel="next"` });
}

function hasStatus({ statusCode }: DeliveryRow, status: string | null): boolean {
  if (status === "success") return statusCode >= 200 && statusCode < 400;
  return status !== "failure" || (statusCode >= 400 && statusCode < 600);
}

function readOne(call: RestCall) {
  const delivery = deliveryOf(call);
  return ok(presentDelivery(delivery, call.forge.state.payloads.need(delivery.payloadId).text));
}

function redeliver(call: RestCall) {
  call.forge.webhooks.redeliver(deliveryOf(call).id);
  return { status: 202, body: {} };
}

/** A delivery as the list shows it. */
const presentDeliveryItem = (delivery: DeliveryRow) => ({
  id: delivery.id,
  guid: delivery.guid,
  delivered_at: delivery.deliveredAt ?? delivery.createdAt,
  redelivery: delivery.redelivery,
  duration: delivery.duration,
  status: delivery.status,
  status_code: delivery.statusCode,
  event: delivery.event,
  action: delivery.action,
  installation_id: delivery.installationId,
  repository_id: delivery.repositoryId,
  throttled_at: null,
});

/** A delivery with its request and response. `text` is the JSON of the payload. */
function presentDelivery(delivery: DeliveryRow, text: string) {
  const payload: unknown = JSON.parse(text);
  return {
    ...presentDeliveryItem(delivery),
    url: delivery.url,
    request: { headers: delivery.requestHeaders, payload },
    response: { headers: delivery.responseHeaders, payload: delivery.responseBody },
  };
}
