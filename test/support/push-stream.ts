import { once } from 'node:events';
import { adminAuthorization } from './host.ts';

export type StreamKind = 'json' | 'sse' | 'raw' | 'ws';
export const streamKinds: readonly StreamKind[] = ['json', 'sse', 'raw', 'ws'];

/** Open stream of a push server. */
export interface PushStream extends Disposable {
  /** Texts of the received messages. */
  readonly texts: readonly string[];
  /** Resolves when the stream ends. */
  readonly ended: Promise<void>;
}

interface StreamEvent {
  readonly event: string;
  readonly message?: string;
}

/**
 * Subscribes to a topic, and resolves when the server has confirmed it. `authorization`: default that of the
 * administrator; `since`: as in `?since=all`.
 */
export async function openPushStream(
  base: string,
  topic: string,
  kind: StreamKind,
  { authorization = adminAuthorization, since = 'none' }: { authorization?: string; since?: string } = {},
): Promise<PushStream> {
  // Browsers cannot set headers of a WebSocket.
  const query = new URLSearchParams({ since, auth: Buffer.from(authorization).toString('base64url') });
  const address = `${base}/${topic}/${kind}?${query.toString()}`;
  if (kind === 'ws') return openWebSocket(address.replace(/^http/, 'ws'));
  const stop = new AbortController();
  const reply = await fetch(address, { signal: stop.signal });
  if (reply.status !== 200 || reply.body === null) throw new Error(`status ${String(reply.status)}`);
  const texts: string[] = [];
  const opened = Promise.withResolvers<void>();
  const read = async (body: AsyncIterable<Uint8Array>): Promise<void> => {
    let rest = '';
    const decoder = new TextDecoder();
    for await (const chunk of body) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      opened.resolve();
      for (const line of lines) texts.push(...readLine(kind, line));
    }
  };
  const ended = read(reply.body).catch(() => undefined);
  await opened.promise;
  return { texts, ended, [Symbol.dispose]: () => stop.abort() };
}

function readLine(kind: Exclude<StreamKind, 'ws'>, line: string): readonly string[] {
  if (kind === 'raw') return line === '' ? [] : [line];
  const text = kind === 'json' ? line : line.replace(/^data: /, '');
  return text.startsWith('{') ? readEvent(text) : [];
}

function readEvent(text: string): readonly string[] {
  const { event, message = '' } = JSON.parse(text) as StreamEvent;
  return event === 'message' ? [message] : [];
}

async function openWebSocket(url: string): Promise<PushStream> {
  const socket = new WebSocket(url);
  const texts: string[] = [];
  const opened = Promise.withResolvers<void>();
  socket.addEventListener('message', ({ data }) => {
    opened.resolve();
    texts.push(...readEvent(String(data)));
  });
  const ended = once(socket, 'close').then(() => undefined);
  await opened.promise;
  return { texts, ended, [Symbol.dispose]: () => socket.close() };
}
