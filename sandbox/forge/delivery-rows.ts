/** The webhook log. */

/** The JSON text of a webhook. */
export interface PayloadRow {
  readonly id: number;
  readonly text: string;
}

/** One attempt to deliver a webhook. A redelivery is a new row with the same guid. */
export interface DeliveryRow {
  readonly id: number;
  readonly guid: string;
  readonly event: string;
  readonly action: string | null;
  readonly installationId: number | null;
  readonly repositoryId: number | null;
  /** What was sent is kept apart, because a delivery's row changes and its payload is large. */
  readonly payloadId: number;
  readonly redelivery: boolean;
  readonly createdAt: string;
  /** Null until the attempt is over. */
  readonly deliveredAt: string | null;
  readonly duration: number;
  /** `OK`, or what went wrong. */
  readonly status: string;
  /** 0 where no answer came. */
  readonly statusCode: number;
  readonly url: string;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly responseHeaders: Readonly<Record<string, string>>;
  readonly responseBody: string | null;
}
