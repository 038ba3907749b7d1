import type { DeliveryRow } from "../rows.ts";

/** A line of the delivery log. */
export const presentDeliveryItem = (delivery: DeliveryRow) => ({
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

/** A delivery with what was sent and answered. */
export function presentDelivery(delivery: DeliveryRow, text: string) {
  const payload: unknown = JSON.parse(text);
  return {
    ...presentDeliveryItem(delivery),
    url: delivery.url,
    request: { headers: delivery.requestHeaders, payload },
    response: { headers: delivery.responseHeaders, payload: delivery.responseBody },
  };
}
