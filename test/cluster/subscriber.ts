import { setTimeout as pause } from 'node:timers/promises';
import { adminAuthorization } from '../support/host.ts';
import { GapMeter } from './gap-meter.ts';

/** Client that reconnects after the last message that it received, and drops messages that it received before. */
export interface Subscriber extends Disposable {
  /** Ids of the received messages in their order, each once. */
  readonly ids: readonly string[];
  /** Number of messages that were received more than once. */
  readonly repeated: number;
  /** Number of connections so far. */
  readonly connections: number;
  /** Times between two messages. */
  readonly gaps: GapMeter;
}

/** Subscribes to a topic; resolves with the first connection. `address`: address of the JSON stream. */
export async function openSubscriber(address: () => string): Promise<Subscriber> {
  const stop = new AbortController();
  const seen = new Set<string>();
  const gaps = new GapMeter();
  const state = { repeated: 0, connections: 0 };
  const opened = Promise.withResolvers<void>();
  let since = 'all';
  const receive = (line: string): void => {
    const { event, id } = JSON.parse(line) as { event: string; id: string };
    opened.resolve();
    if (event !== 'message') return;
    gaps.record();
    if (seen.has(id)) state.repeated += 1;
    seen.add(id);
    since = id;
  };
  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      state.connections += 1;
      await readStream(`${address()}?since=${since}`, stop.signal, receive).catch(() => undefined);
      await pause(100);
    }
  };
  void run();
  await opened.promise;
  return {
    get ids() {
      return [...seen];
    },
    get repeated() {
      return state.repeated;
    },
    get connections() {
      return state.connections;
    },
    gaps,
    [Symbol.dispose]: () => stop.abort(),
  };
}

/** Reads the lines of a stream until it ends. @throws Error when it is refused or interrupted. */
async function readStream(url: string, signal: AbortSignal, receive: (line: string) => void): Promise<void> {
  const reply = await fetch(url, { headers: { authorization: adminAuthorization }, signal });
  if (!reply.ok || reply.body === null) throw new Error(`status ${String(reply.status)}`);
  let rest = '';
  for await (const text of reply.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') receive(line);
  }
}
