import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../support/free-port.ts';
import { startHostProcess } from '../support/host-process.ts';
import type { Load, Sink } from './load.ts';
import { addKey, notification } from './notify-requests.ts';
import type { Figure } from './run.ts';

const dead = 40;

/**
 * Measures how much unreachable destinations delay the others, and how fast the backlog of a returned destination is
 * delivered.
 */
export async function* benchFaults({
  folder,
  load,
  openSink,
  share,
}: {
  readonly folder: string;
  readonly load: Load;
  readonly openSink: (port?: number) => Promise<Sink>;
  /** Number of notifications. */
  readonly share: number;
}): AsyncGenerator<Figure> {
  await using host = await startHostProcess(join(folder, 'faults'));
  const port = host.port('notify');
  yield* await besideDead(port, load, openSink);
  yield* await drain(port, load, openSink, 10_000 * share);
}

async function besideDead(
  port: number,
  load: Load,
  openSink: (port?: number) => Promise<Sink>,
): Promise<readonly Figure[]> {
  await using sink = await openSink();
  await addKey(port, 'well', [`json://127.0.0.1:${sink.port}/well`]);
  const silent = Array.from({ length: dead }, (_, index) => `json://127.0.0.1:${sink.port}/never/${String(index)}`);
  await addKey(port, 'dead', silent);
  await load.publish(port, 1, 1000, notification('well'));
  const aloneRate = await load.publish(port, 1, 1000, notification('well'));
  const toDead = load.publish(port, 1, 10, notification('dead'));
  while ((await sink.count()).unanswered < dead) await sleep(20);
  const rateDuringFault = await load.publish(port, 1, 1000, notification('well'));
  await toDead;
  return [
    { what: 'notify: one to a healthy destination, p99', measured: aloneRate.p99, unit: 'ms' },
    {
      what: `notify: the same beside ${String(dead)} that never answer, p99`,
      measured: rateDuringFault.p99,
      unit: 'ms',
    },
  ];
}

async function drain(
  port: number,
  load: Load,
  openSink: (port?: number) => Promise<Sink>,
  queued: number,
): Promise<readonly Figure[]> {
  const away = await freePort();
  await addKey(port, 'away', [`json://127.0.0.1:${away}/`]);
  const accepted = await load.publish(port, 8, queued, notification('away'));
  await using sink = await openSink(away);
  const count = async (): Promise<number> => (await sink.count()).requests;
  while ((await count()) === 0) await sleep(5);
  const started = performance.now();
  let receivedCount = 0;
  for (; receivedCount < queued; receivedCount = await count()) await sleep(20);
  const seconds = (performance.now() - started) / 1000;
  return [
    { what: 'notify: taken while the destination is away', measured: accepted.perSecond, unit: '/s' },
    {
      what: `notify: ${queued.toLocaleString('en')} that waited for one destination`,
      measured: queued / seconds,
      unit: '/s',
      goal: { at: 'least', value: 500 },
    },
  ];
}
