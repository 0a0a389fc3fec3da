import { once } from 'node:events';
import { appendFile, copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineService, type Context, type Service } from '../../../services/contracts/service.ts';
import { manifest, shipArrived } from './manifest.ts';

export const harbour = defineService({ ...manifest, create });

function create(context: Context): Service {
  const open = new AsyncDisposableStack();
  const log = join(context.files, 'log');
  let crane: number | undefined;
  return {
    http(request, response) {
      const url = new URL(request.url ?? '/', 'http://harbour');
      const ship = url.searchParams.get('ship');
      if (ship !== null) context.bus.publish(shipArrived, { name: ship });
      if (url.pathname === '/timetable') {
        // For visitors without an account.
        response.setHeader('Content-Type', 'text/html; charset=utf-8');
        response.setHeader('Content-Security-Policy', "default-src 'none'");
        response.end('<!doctype html><title>Timetable</title><h1>Ships today</h1>');
        return;
      }
      response.setHeader('Content-Type', 'application/json');
      response.end(
        JSON.stringify({
          ...{ crane, publicUrl: context.publicUrl(request), from: context.caller(request).remoteAddress },
        }),
      );
    },
    upgrade(_request, socket) {
      socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    },
    listeners: { radio: { tcp: (socket) => void socket.end('ahoy\r\n') } },
    backup: async (folder) => await writeFile(join(folder, 'log'), `${await readFile(log, 'utf8')}, saved whole`),
    restore: async (folder) => await copyFile(join(folder, 'log'), log),
    async start() {
      await appendFile(log, 'opened');
      const child = open.use(
        await context.children.start({
          name: 'crane',
          file: process.execPath,
          args: ['-e', "process.stdout.write('up'); setInterval(() => undefined, 1000)"],
        }),
      );
      await once(child.stdout, 'data');
      crane = child.pid;
      open.use(context.hosts.add(['harbour.test']));
    },
    health: () => Promise.resolve({ state: 'up', detail: 'open' }),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}
