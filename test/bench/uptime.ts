import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MonitorRow } from '../../services/contracts/uptime/views.ts';
import { adminAuthorization } from '../support/host.ts';
import { startHostProcess } from '../support/host-process.ts';
import { cpuSeconds, inFreshFolder, residentMegabytes } from './measure.ts';
import type { BenchOptions } from './run.ts';

const intervalSeconds = 20;
/** Answers every request, in a separate process whose CPU time is not measured. */
const targetSource = `
  const server = require('node:http').createServer((_, response) => response.end('fine'));
  server.listen(0, '127.0.0.1', 8192, () => console.log(server.address().port));
`;

/**
 * Measures ten thousand HTTP monitors on a complete host: CPU and memory, delays, and the time until the dashboard has
 * its data.
 */
export function benchUptime({ quick, print }: BenchOptions): Promise<void> {
  const count = quick ? 2000 : 10_000;
  const seconds = quick ? 20 : 60;
  return inFreshFolder(async (folder) => {
    const target = spawn(process.execPath, ['-e', targetSource], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = (await once(target.stdout, 'data')) as [Buffer];
    const url = `http://127.0.0.1:${line.toString().trim()}/`;
    try {
      await using host = await startHostProcess(folder);
      const pid = host.child.pid ?? 0;
      const ask = async (path: string, body?: unknown): Promise<string> => {
        const reply = await fetch(host.url('uptime') + path, {
          method: body === undefined ? 'GET' : 'POST',
          headers: { authorization: adminAuthorization, 'content-type': 'application/json' },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        if (!reply.ok) throw new Error(await reply.text());
        return reply.text();
      };
      for (let offset = 0; offset < count; offset += 1000) {
        const items = Array.from({ length: Math.min(1000, count - offset) }, (_, index) => ({
          ...{ type: 'http', name: `monitor ${String(offset + index)}`, url, interval: intervalSeconds },
        }));
        await ask('/api/monitors/bulk', { items });
      }
      await sleep(intervalSeconds * 1500);
      const joined = async (): Promise<string> => {
        const reply = await fetch(`${host.url('control')}/metrics`, { headers: { authorization: adminAuthorization } });
        return reply.text();
      };
      const first = await joined();
      const cpu = cpuSeconds(pid);
      await sleep(seconds * 1000);
      const used = cpuSeconds(pid) - cpu;
      const last = await joined();
      const checks =
        sum(last, /^uptime_checks_total\{.*\} (\d+)$/gm) - sum(first, /^uptime_checks_total\{.*\} (\d+)$/gm);
      const late = (limit: string): number => {
        const getBucket = (text: string, le: string): number =>
          sum(
            text,
            new RegExp(`^uptime_check_lateness_seconds_bucket\\{.*le="${le.replace('+', '\\+')}".*\\} (\\d+)$`, 'gm'),
          );
        return (
          1 - (getBucket(last, limit) - getBucket(first, limit)) / (getBucket(last, '+Inf') - getBucket(first, '+Inf'))
        );
      };
      const startedAt = performance.now();
      const overview = await ask('/api/overview');
      const took = performance.now() - startedAt;
      const { rows } = JSON.parse(overview) as { rows: readonly MonitorRow[] };
      const share = rows.length / 1000;
      print(
        {
          what: `${String(count)} HTTP monitors at 20 s (share of one core)`,
          measured: (used / seconds) * 100,
          unit: '%',
          goal: { at: 'most', value: 60 },
        },
        { what: 'a check (CPU)', measured: (used / checks) * 1000, unit: 'ms', goal: { at: 'most', value: 1.375 } },
        {
          what: 'completed checks as a share of scheduled checks',
          measured: (checks / ((count / intervalSeconds) * seconds)) * 100,
          unit: '%',
          goal: { at: 'least', value: 98 },
        },
        {
          what: 'checks more than a second late',
          measured: late('1') * 100,
          unit: '%',
          goal: { at: 'most', value: 1 },
        },
        { what: 'host (resident)', measured: residentMegabytes(pid), unit: 'MB', goal: { at: 'most', value: 350 } },
        {
          what: 'data of the dashboard for 1,000 monitors',
          measured: overview.length / 1000 / share,
          unit: 'kB',
          goal: { at: 'most', value: 200 },
        },
        { what: `the same of all (${String(count)})`, measured: took, unit: 'ms' },
      );
    } finally {
      target.kill();
    }
  });
}

function sum(text: string, pattern: RegExp): number {
  return [...text.matchAll(pattern)].reduce((total, [, value]) => total + Number(value), 0);
}
