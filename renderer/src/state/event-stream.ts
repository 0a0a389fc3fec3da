import { liveTopics, resetEvent } from '../../../services/contracts/control/live.ts';

/** Waits before a stream that the browser gave up is opened anew, in ms; the last repeats. */
const backoff = [1000, 2000, 5000, 10_000, 30_000];

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
 * Reads `GET /api/events`. The browser itself resumes after a cut connection; where it gives up (an answer other than 200),
 * the stream is opened anew with the last id in the address. The returned function ends it.
 */
export function openEventStream(from: StreamStart, tell: (news: StreamNews) => void): () => void {
  let { last, gap } = from;
  let failures = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let source: EventSource;

  const connect = (): void => {
    const query = last === '' ? '' : `?lastEventId=${encodeURIComponent(last)}`;
    const now = new EventSource(`/api/events${query}`);
    source = now;
    now.onopen = () => {
      // Opened anew without an id to resume from: anything may have been missed.
      if (gap && last === '') tell({ kind: 'reset', id: '' });
      failures = 0;
      gap = false;
      tell({ kind: 'open' });
    };
    now.onerror = () => {
      tell({ kind: 'cut' });
      if (now.readyState !== EventSource.CLOSED) return;
      tell({ kind: 'refused' });
      timer = setTimeout(connect, backoff[Math.min(failures, backoff.length - 1)]);
      failures += 1;
      gap = true;
    };
    now.addEventListener(resetEvent, (event: MessageEvent<string>) => {
      last = event.lastEventId;
      tell({ kind: 'reset', id: last });
    });
    for (const { name } of liveTopics) {
      now.addEventListener(name, (event: MessageEvent<string>) => {
        last = event.lastEventId;
        tell({ kind: 'event', name, data: event.data, id: last });
      });
    }
  };

  connect();
  return () => {
    clearTimeout(timer);
    source.close();
  };
}
