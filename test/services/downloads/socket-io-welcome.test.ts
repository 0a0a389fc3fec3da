import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { io } from 'socket.io-client';
import { expect, it, vi } from 'vitest';
import type { Item } from '../../../services/downloads/domain/item.ts';
import { LiveUpdates } from '../../../services/downloads/reporting/live-updates.ts';
import { DownloadsSocketIo, type SocketIoDependencies } from '../../../services/downloads/metube-api/socket-io.ts';
import { Settings } from '../../../services/downloads/settings.ts';
import { createFakeClock } from '../../support/clock.ts';
import { anItem } from './sample-item.ts';

const noSubscription: Disposable = { [Symbol.dispose]: () => undefined };

/** Opens the live server with queued downloads and initial lists that wait for the history. */
async function openGate(queued: readonly Item[]) {
  await using opening = new AsyncDisposableStack();
  const live = opening.use(
    new LiveUpdates({ publish: () => undefined, subscribe: () => noSubscription }, createFakeClock()),
  );
  const requested = Promise.withResolvers<void>();
  const history = Promise.withResolvers<readonly Item[]>();
  const parts = {
    settings: Settings.parse({}),
    folders: { audio: '/audio', list: () => Promise.resolve(['']) },
    downloads: {
      live,
      store: { queue: (states?: readonly string[]) => Promise.resolve(states === undefined ? queued : []) },
      history: () => {
        requested.resolve();
        return history.promise;
      },
    },
    optionFiles: { subscribe: () => noSubscription },
    subscriptions: { list: () => Promise.resolve([]), subscribe: () => noSubscription },
    admit: () => Promise.resolve(() => true),
    context: {
      bus: { subscribe: () => noSubscription },
      clock: createFakeClock(),
      log: { error: (message: string, fields: unknown) => expect.fail(`${message} ${String(fields)}`) },
    },
  };
  const socketIo = opening.use(new DownloadsSocketIo(parts as unknown as SocketIoDependencies));
  const server = createServer(socketIo.http).listen(0, '127.0.0.1');
  await once(server, 'listening');
  opening.defer(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const received: (readonly [event: string, content: any])[] = [];
  const socket = io(`http://127.0.0.1:${port}`, { reconnection: false, forceNew: true, transports: ['polling'] });
  opening.defer(() => void socket.disconnect());
  socket.onAny((event: string, text: string) => received.push([event, JSON.parse(text)]));
  await requested.promise;
  const open = opening.move();
  return { live, heard: received, list: () => history.resolve([]), [Symbol.asyncDispose]: () => open.disposeAsync() };
}

it('sends updates instead of additions for changes during the initial lists', async () => {
  await using gate = await openGate([anItem]);
  gate.live.changed({ ...anItem, state: 'postprocessing' });
  gate.live.changed({ ...anItem, uid: 'b', url: 'http://a/b' });
  gate.list();
  await vi.waitFor(() => expect(gate.heard).toHaveLength(6));
  expect(gate.heard.slice(4).map(([event, { url }]) => [event, url])).toEqual([
    ['updated', 'http://a/a'],
    ['added', 'http://a/b'],
  ]);
});
