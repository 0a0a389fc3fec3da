/** Stores a configuration; both programs use the same request. */
export async function addKey(port: number, key: string, lines: readonly string[]): Promise<void> {
  const reply = await fetch(`http://127.0.0.1:${port}/add/${key}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ format: 'text', config: lines.join('\n') }),
  });
  if (!reply.ok) throw new Error(`the key ${key} was refused: ${reply.status} ${await reply.text()}`);
}

/** Builds a complete request with a notification. */
export function notification(key: string): string {
  const body = JSON.stringify({ title: 'Backup finished', body: 'x'.repeat(200), type: 'info' });
  const headers = `Host: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json`;
  return `POST /notify/${key} HTTP/1.1\r\n${headers}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}
