/**
 * Formats an event of a Server-Sent Events stream (HTML standard, section 9.2). `data` is serialized as JSON without
 * line breaks.
 */
export function eventFrame(event: string, data: unknown, id: string): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Formats an id without event, so that a client can resume before it has received one. */
export function idFrame(id: string): string {
  return `id: ${id}\n\n`;
}

/** Formats the reconnection delay of the client in ms. */
export function retryFrame(ms: number): string {
  return `retry: ${String(ms)}\n\n`;
}

/** Comment that keeps idle connections open. */
export const keepaliveFrame = ': still here\n\n';
