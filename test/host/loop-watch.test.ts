import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import { defineService } from '../../services/contracts/service.ts';
import { z } from 'zod';
import { openDatabase } from '../../main/host/database/open.ts';
import { createMetrics } from '../../main/host/metrics/metrics.ts';
import { systemClock } from '../../main/host/runtime/clock.ts';
import { LoopWatch, type LoopTimes } from '../../main/host/runtime/loop-watch.ts';
import { openTestHost } from '../support/host.ts';
import { silentLog } from '../support/database-location.ts';

/** Returns the processor time in ms, since a busy computer only delays. */
function computed(): number {
  return process.threadCpuUsage().user / 1000;
}

function block(ms: number): void {
  const start = computed();
  while (computed() - start < ms);
}

interface Line {
  /** Only of warnings. */
  readonly level?: 'warn';
  readonly event: string;
  readonly message: string;
  readonly service: string;
  readonly by: string;
  readonly milliseconds: number;
}

function watch(times?: LoopTimes): { readonly loop: LoopWatch; readonly lines: Line[] } {
  const lines: Line[] = [];
  const log = {
    ...silentLog,
    info: (message: string, fields?: Record<string, unknown>) => void lines.push({ message, ...fields } as Line),
    warn: (message: string, fields?: Record<string, unknown>) =>
      void lines.push({ level: 'warn', message, ...fields } as Line),
  };
  const loop = new LoopWatch({ log, clock: systemClock, ...(times === undefined ? {} : { times }) });
  loop.startTelling();
  return { loop, lines };
}

describe('LoopWatch', () => {
  it('logs only tasks of a second and more as warnings', () => {
    let now = 0;
    const { loop, lines } = watch({ now: () => now, processor: () => now });
    using _open = loop;
    loop.run('push', 'a short task', () => (now += 999));
    loop.run('push', 'a long task', () => (now += 1000));
    expect(lines.map(({ by, level }) => [by, level])).toEqual([
      ['a short task', undefined],
      ['a long task', 'warn'],
    ]);
  });

  it('logs the innermost long task once per interval', () => {
    const { loop, lines } = watch({ now: computed, processor: computed });
    using _open = loop;
    loop.run('push', 'a request', () => {
      loop.run('push', 'select 1', () => block(5));
      loop.run('push', 'select  *\n from messages', () => block(130));
    });
    loop.run('push', 'select  *\n from messages', () => block(110));
    expect(lines).toEqual([
      {
        event: 'event_loop_blocked',
        message: 'event loop blocked',
        service: 'push',
        by: 'select * from messages',
        milliseconds: expect.any(Number) as number,
      },
    ]);
    expect(lines[0]?.milliseconds).toBeGreaterThanOrEqual(130);
  });

  it('reports an untimed delay with the latest task', async () => {
    // Simulates exclusive use of the processor.
    const now = (): number => performance.now();
    const { loop, lines } = watch({ now, processor: now });
    using _open = loop;
    loop.run('notify', 'a request', () => undefined);
    // The window starts with the next run of its timer.
    await vi.waitFor(() => expect(loop.delays().count).toBeGreaterThan(0));
    block(400);
    await vi.waitFor(() => expect(lines).not.toEqual([]));
    expect(lines[0]).toMatchObject({ service: 'unknown', by: 'begun last: notify a request' });
  });

  it('reports a database statement', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'loop-'));
    const { loop, lines } = watch();
    using _open = loop;
    try {
      await using database = await openDatabase({ folder, schema: 'mail', log: silentLog, loop });
      await sql`with recursive n(a) as (select 1 union all select a + 1 from n where a < ${3_000_000}) select sum(a) from n`.execute(
        database.kysely,
      );
      expect(lines[0]).toMatchObject({
        service: 'mail',
        by: expect.stringMatching(/^with recursive n\(a\).* < \?/) as string,
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("reports a request or timer of a service in the host's log", async () => {
    const slow = defineService({
      id: 'slow',
      title: 'Slow',
      summary: 'Takes its time.',
      listeners: [{ name: 'http', title: 'HTTP', protocol: 'http', port: 0 }],
      settings: z.object({}),
      environment: {},
      migrations: [],
      create: ({ clock }) => ({
        http(_request, response) {
          block(120);
          clock.after(1, () => block(120));
          response.end('done');
        },
        async start() {},
        health: async () => ({ state: 'up', detail: '' }),
        async [Symbol.asyncDispose]() {},
      }),
    });
    await using host = await openTestHost({ services: [slow], environment: { HOMEPORT_PORT_SLOW: '0' } });
    await fetch(host.url('slow'));
    await vi.waitFor(() => {
      const warnings = host.log.filter((line) => line.includes('event_loop_blocked'));
      expect(warnings.filter((line) => line.includes('slow') && line.includes('a request'))).toHaveLength(1);
      expect(warnings.filter((line) => line.includes('slow') && line.includes('a timer of 1 ms'))).toHaveLength(1);
    });
  });
});

describe('event loop delays', () => {
  it('are counted by duration on the metrics page', async () => {
    const { loop } = watch();
    using _open = loop;
    const metrics = createMetrics({ version: '1', loopDelays: () => loop.delays() });
    const read = async (): Promise<ReadonlyMap<string, number>> => {
      const page = await metrics.text();
      expect(page).toContain('# TYPE nodejs_eventloop_delay_seconds histogram');
      return new Map(
        Array.from(page.matchAll(/^nodejs_eventloop_delay_seconds_(\S+) (\S+)$/gm), ([, name = '', value]) => [
          name,
          Number(value),
        ]),
      );
    };
    await vi.waitFor(async () => expect((await read()).get('count')).toBeGreaterThan(3));
    const before = await read();
    let after = before;
    const increase = (name: string): number => (after.get(name) ?? 0) - (before.get(name) ?? 0);
    const long = (): number => increase('count') - increase('bucket{le="0.25"}');
    // The monitor misses one delay after each of its checks, about once a second.
    for (let time = 0; time < 12 && long() < 3; time += 1) {
      block(300);
      await new Promise((resolve) => setTimeout(resolve, 50));
      after = await read();
    }
    expect(long()).toBeGreaterThanOrEqual(3);
    expect(increase('bucket{le="+Inf"}')).toBe(increase('count'));
    expect(increase('sum')).toBeGreaterThan(0.7);
    const buckets = [...after].flatMap(([name, value]) => (name.startsWith('bucket') ? [value] : []));
    expect(buckets).toEqual(buckets.toSorted((a, b) => a - b));
  });
});
