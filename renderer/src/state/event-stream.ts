import { resetEvent } from '../../../services/contracts/control/live.ts';
import { sessionSecret } from '../api/session-secret.ts';

/** Waits before a stream that the host refused is opened anew, in ms; the last repeats. */
const backoff = [1000, 2000, 5000, 10_000, 30_000];
/** The same after a cut, unless the host says otherwise. */
const usualRetryMs = 2000;

/** What a stream tells: the same whether this page reads it or hears it from another tab. */
export type StreamNews =
  | { readonly kind: 'open' }
  /** The connection is cut; it is being mended. */
  | { readonly kind: 'cut' }
  /** The host refused the stream: the session may be over. */
  | { readonly kind: 'refused' }
  /** What was missed is not known any more: lists must be read anew. `id`: where the stream goes on. */
  | { readonly kind: 'reset'; readonly id: string }
  /** `data` is JSON text. */
  | { readonly kind: 'event'; readonly name: string; readonly data: string; readonly id: string };

/** Where a stream begins. */
export interface StreamStart {
  /** The last event that was heard; empty when there was none yet. */
  readonly last: string;
  /** Another stream ended before this one. */
  readonly gap: boolean;
}

/**
 * Reads `GET /api/events`, and after a cut goes on behind the last event. It does what EventSource does, which cannot send the
 * header of the session. The returned function ends it.
 */
export function openEventStream(from: StreamStart, tell: (news: StreamNews) => void): () => void {
  const ended = new AbortController();
  let { last, gap } = from;
  let failures = 0;
  let heard = false;
  let retryMs = usualRetryMs;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const take = (block: string): void => {
    const { id, event, data, retry } = fieldsOf(block);
    if (id !== undefined) last = id;
    if (retry !== undefined) retryMs = Number(retry) || usualRetryMs;
    if (data === undefined || event === undefined) return;
    try {
      if (event === resetEvent) tell({ kind: 'reset', id: last });
      else tell({ kind: 'event', name: event, data, id: last });
    } catch (error) {
      // A defect of a page must not cut the stream.
      reportError(error);
    }
  };

  const read = async (body: ReadableStream<Uint8Array>): Promise<void> => {
    const reader = body.getReader();
    const decoder = new TextDecoder();
    let pending = '';
    for (;;) {
      const part = await reader.read();
      if (part.done) return;
      const blocks = (pending + decoder.decode(part.value, { stream: true })).split('\n\n');
      pending = blocks.pop() ?? '';
      blocks.forEach(take);
    }
  };

  /** Resolves when the stream has ended: true where the host had refused it. */
  const follow = async (): Promise<boolean> => {
    const response = await fetch('/api/events', {
      headers: { ...sessionSecret.headers(), ...(last === '' ? {} : { 'Last-Event-ID': last }) },
      cache: 'no-store',
      signal: ended.signal,
    });
    if (!response.ok || response.body === null) return true;
    // Opened anew without an id to resume from: anything may have been missed.
    if (gap && last === '') tell({ kind: 'reset', id: '' });
    failures = 0;
    heard = true;
    gap = false;
    tell({ kind: 'open' });
    await read(response.body);
    return false;
  };

  const connect = async (): Promise<void> => {
    // A connection that broke, or could not be made, is mended like one that the host has ended.
    const refused = await follow().catch(() => false);
    if (ended.signal.aborted) return;
    // Before the first stream there is nothing to miss: who reads a list waits for that.
    if (refused || heard) gap = true;
    tell({ kind: 'cut' });
    if (refused) tell({ kind: 'refused' });
    timer = setTimeout(() => void connect(), refused ? backoff[Math.min(failures, backoff.length - 1)] : retryMs);
    if (refused) failures += 1;
  };

  void connect();
  return () => {
    clearTimeout(timer);
    ended.abort();
  };
}

/** The fields of one event, as the HTML standard has them; the host writes each once. */
function fieldsOf(block: string): Readonly<Partial<Record<string, string>>> {
  const fields: Record<string, string> = {};
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 1).trimStart();
  }
  return fields;
}
