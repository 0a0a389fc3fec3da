/** One event of a Server-Sent Events stream (HTML standard, section 9.2). `data` is JSON, so it holds no line break. */
export function eventFrame(event: string, data: unknown, id: string): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Sets the client's last event id without an event, so that it can resume though it has not seen one yet. */
export function idFrame(id: string): string {
  return `id: ${id}\n\n`;
}

/** How long a client waits before it connects again, in ms. */
export function retryFrame(ms: number): string {
  return `retry: ${String(ms)}\n\n`;
}

/** A comment: keeps the connection from being taken for dead. */
export const keepaliveFrame = ': still here\n\n';
