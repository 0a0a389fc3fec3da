import { openEventStream, type StreamEvent, type StreamStart } from './event-stream.ts';

/** Messages between tabs: events of the stream, and the question of a new tab for the state of the stream. */
type Message =
  | StreamEvent
  | { readonly kind: 'who' }
  /** Reply of the reading tab. */
  | { readonly kind: 'here'; readonly open: boolean; readonly id: string };

/**
 * Reads the event stream once for all tabs with the same language: browsers limit HTTP/1.1 to six connections for each
 * host, and a stream occupies one permanently. The tab that holds the lock reads and relays the events. When it closes,
 * the next tab gets the lock and resumes after the last event it received. Without the Web Locks API, which needs https
 * or localhost, each tab reads its own stream. Returns a function that ends the participation of this tab.
 * @param locale Language of the texts in the events
 */
export function shareEventStream(
  locale: string,
  start: StreamStart,
  onEvent: (event: StreamEvent) => void,
): () => void {
  if (!('locks' in navigator) || !('BroadcastChannel' in globalThis)) return openEventStream(start, onEvent);
  // Name of the lock and of the channel; both are limited to this origin.
  const name = `homeport-live ${locale}`;
  const channel = new BroadcastChannel(name);
  const closing = new AbortController();
  const released = Promise.withResolvers<undefined>();
  let { lastId } = start;
  let isReader = false;
  /** This tab has received events of an earlier stream, or from another tab. */
  let hasFollowed = start.gap;
  let isOpen = false;
  let endStream = (): void => undefined;

  const handle = (event: StreamEvent): void => {
    if ('id' in event) lastId = event.id;
    if (event.kind === 'open') isOpen = true;
    if (event.kind === 'cut') isOpen = false;
    onEvent(event);
  };

  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.kind === 'who') {
      if (isReader) channel.postMessage({ kind: 'here', open: isOpen, id: lastId } satisfies Message);
    } else if (isReader) {
      return;
    } else if (data.kind !== 'here') {
      hasFollowed = true;
      // This tab may have received an event on the stream of its previous language.
      if (data.kind !== 'event' || isNewer(data.id, lastId)) handle(data);
    } else {
      // The reading tab has relayed events before this one followed it.
      const isBehind = hasFollowed && (data.id === '' ? lastId !== '' : isNewer(data.id, lastId));
      hasFollowed = true;
      if (lastId === '' && data.id !== '') handle({ kind: 'position', id: data.id });
      handle({ kind: data.open ? 'open' : 'cut' });
      if (isBehind) handle({ kind: 'reset', id: data.id });
    }
  };

  const read = async (): Promise<void> => {
    if (closing.signal.aborted) return;
    isReader = true;
    endStream = openEventStream({ lastId: lastId, gap: hasFollowed }, (event) => {
      handle(event);
      channel.postMessage(event satisfies Message);
    });
    await released.promise;
  };

  navigator.locks.request(name, { signal: closing.signal }, read).catch((error: unknown) => {
    // Aborting while waiting for the lock is not an error. If the browser refuses locks, this tab reads its own
    // stream.
    if (!closing.signal.aborted) {
      console.warn('Live events are read by this tab alone.', error);
      void read();
    }
  });
  channel.postMessage({ kind: 'who' } satisfies Message);

  return () => {
    endStream();
    channel.close();
    closing.abort();
    released.resolve(undefined);
  };
}

/**
 * Returns true when an event was sent after the last received one, or by another start of the host. IDs are
 * `<start of the host>-<number>`.
 */
function isNewer(id: string, lastId: string): boolean {
  const split = id.lastIndexOf('-');
  if (!lastId.startsWith(id.slice(0, split + 1))) return true;
  return Number(id.slice(split + 1)) > Number(lastId.slice(split + 1));
}
