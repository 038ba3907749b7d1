import type { Client } from "../../api/client.ts";

interface Order {
  readonly fullName: string | undefined;
  readonly headSha: string;
}

interface Approved {
  readonly state: "merged" | "pending";
}

/**
 * Approves an agent's proposal as the person who is signed in. A repeated call does only what is
 * missing, so every call sends a new idempotency key.
 */
export async function approveProposal(client: Client, number: number, order: Order): Promise<Approved> {
  const response = await client.call(`/console/v1/cards/${number}/approve`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID() },
    body: JSON.stringify(order),
  });
  return (await response.json()) as Approved;
}
