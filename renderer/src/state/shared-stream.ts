import { openEventStream, type StreamNews } from './event-stream.ts';

/** One name for the lock and the channel; both are of this origin alone. */
const name = 'homeport-live';

/** What tabs say to each other: news of the stream, and a question for them by a tab that has just come. */
type Message =
  | StreamNews
  | { readonly kind: 'who' }
  /** The reader's answer to it. */
  | { readonly kind: 'here'; readonly open: boolean; readonly id: string };

/**
 * The event stream, read once for all tabs: a browser keeps six connections to a host over HTTP/1.1, and a stream holds one
 * for good. The tab with the lock reads and tells the others; when it goes, the browser gives the lock to the next one, which
 * resumes after the last event that it heard of. Where locks do not exist (they need https or localhost) each tab reads for itself.
 * The returned function ends this tab's part.
 */
export function shareEventStream(tell: (news: StreamNews) => void): () => void {
  if (!('locks' in navigator) || !('BroadcastChannel' in globalThis))
    return openEventStream({ last: '', gap: false }, tell);
  const channel = new BroadcastChannel(name);
  const leaving = new AbortController();
  const left = Promise.withResolvers<undefined>();
  let lastId = '';
  let reading = false;
  /** Another tab has read for this one, until it went. */
  let following = false;
  let open = false;
  let endStream = (): void => undefined;

  const take = (news: StreamNews): void => {
    if (news.kind === 'event' || news.kind === 'reset') lastId = news.id;
    if (news.kind === 'open') open = true;
    if (news.kind === 'cut') open = false;
    tell(news);
  };

  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.kind === 'who') {
      if (reading) channel.postMessage({ kind: 'here', open, id: lastId } satisfies Message);
    } else if (reading) {
      return;
    } else if (data.kind !== 'here') {
      following = true;
      take(data);
    } else {
      following = true;
      if (lastId === '') lastId = data.id;
      take({ kind: data.open ? 'open' : 'cut' });
    }
  };

  const read = async (): Promise<void> => {
    if (leaving.signal.aborted) return;
    reading = true;
    endStream = openEventStream({ last: lastId, gap: following }, (news) => {
      take(news);
      channel.postMessage(news satisfies Message);
    });
    await left.promise;
  };

  navigator.locks.request(name, { signal: leaving.signal }, read).catch((error: unknown) => {
    // Leaving before its turn came is no trouble; a browser that refuses locks leaves us to ourselves.
    if (!leaving.signal.aborted) {
      console.warn('Live events are read by this tab alone.', error);
      void read();
    }
  });
  channel.postMessage({ kind: 'who' } satisfies Message);

  return () => {
    endStream();
    channel.close();
    leaving.abort();
    left.resolve(undefined);
  };
}
