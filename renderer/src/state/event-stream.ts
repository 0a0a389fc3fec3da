import { resetEvent } from '../../../services/contracts/control/live.ts';
import { requestHeaders } from '../api/request-headers.ts';

/** Delays before a refused stream is reopened, in ms; the last one repeats. */
const refusedRetryMs = [1000, 2000, 5000, 10_000, 30_000];
/** Delay after a connection loss, unless the host sets another one. */
const defaultRetryMs = 2000;

/** Event of a stream. It is the same for a stream of this tab and for one that another tab relays. */
export type StreamEvent =
  | { readonly kind: 'open' }
  /** The connection was lost and is being restored. */
  | { readonly kind: 'cut' }
  /** The host refused the stream: the session may have ended. */
  | { readonly kind: 'refused' }
  /**
   * Missed events are no longer available: lists must be reloaded. `id` is the event that the stream continues after.
   */
  | { readonly kind: 'reset'; readonly id: string }
  /** The host sent the ID of its newest event without an event: the stream can be resumed after it. */
  | { readonly kind: 'position'; readonly id: string }
  /** `data` is JSON text. */
  | { readonly kind: 'event'; readonly name: string; readonly data: string; readonly id: string };

/** Position that a stream starts from. */
export interface StreamStart {
  /** ID of the last received event; empty when there was none. */
  readonly lastId: string;
  /** An earlier stream ended before this one. */
  readonly gap: boolean;
}

/**
 * Reads `GET /api/events` and resumes after the last event when the connection is lost. It implements EventSource,
 * which cannot send the session header. Returns a function that ends the stream.
 */
export function openEventStream(start: StreamStart, onEvent: (event: StreamEvent) => void): () => void {
  const ended = new AbortController();
  let { lastId, gap } = start;
  let failures = 0;
  let wasOpen = false;
  let retryMs = defaultRetryMs;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const handleBlock = (block: string): void => {
    const { id, event, data, retry } = parseFields(block);
    if (id !== undefined) lastId = id;
    if (retry !== undefined) retryMs = Number(retry) || defaultRetryMs;
    try {
      if (data === undefined || event === undefined) {
        if (id !== undefined) onEvent({ kind: 'position', id });
        return;
      }
      if (event === resetEvent) onEvent({ kind: 'reset', id: lastId });
      else onEvent({ kind: 'event', name: event, data, id: lastId });
    } catch (error) {
      // An error in a page must not end the stream.
      reportError(error);
    }
  };

  /** Resolves when the stream has ended: true when the host refused it. */
  const follow = async (): Promise<boolean> => {
    const response = await fetch('/api/events', {
      headers: { ...requestHeaders(), ...(lastId === '' ? {} : { 'Last-Event-ID': lastId }) },
      cache: 'no-store',
      signal: ended.signal,
    });
    if (!response.ok || response.body === null) return true;
    // Without an ID to resume from, any event may have been missed.
    if (gap && lastId === '') onEvent({ kind: 'reset', id: '' });
    failures = 0;
    wasOpen = true;
    gap = false;
    onEvent({ kind: 'open' });
    await readBlocks(response.body, handleBlock);
    return false;
  };

  const connect = async (): Promise<void> => {
    // A broken or failed connection is retried like one that the host ended.
    const refused = await follow().catch(() => false);
    if (ended.signal.aborted) return;
    // Before the first stream no event can be missed, because lists are loaded after it was opened.
    if (refused || wasOpen) gap = true;
    onEvent({ kind: 'cut' });
    if (refused) onEvent({ kind: 'refused' });
    timer = setTimeout(
      () => void connect(),
      refused ? refusedRetryMs[Math.min(failures, refusedRetryMs.length - 1)] : retryMs,
    );
    if (refused) failures += 1;
  };

  void connect();
  return () => {
    clearTimeout(timer);
    ended.abort();
  };
}

/** Reads a stream to its end and calls `onBlock` with each block of lines. */
async function readBlocks(body: ReadableStream<Uint8Array>, onBlock: (block: string) => void): Promise<void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let pending = '';
  for (;;) {
    const chunk = await reader.read();
    if (chunk.done) return;
    const blocks = (pending + decoder.decode(chunk.value, { stream: true })).split('\n\n');
    pending = blocks.pop() ?? '';
    for (const block of blocks) onBlock(block);
  }
}

/** Parses the fields of one event as the HTML standard defines them; the host writes each field once. */
function parseFields(block: string): Readonly<Partial<Record<string, string>>> {
  const fields: Record<string, string> = {};
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 1).trimStart();
  }
  return fields;
}
