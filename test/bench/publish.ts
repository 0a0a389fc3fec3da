import { spawnSync } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'undici';
import { api } from '../support/api.ts';
import { admin } from '../support/host.ts';
import { startHostProcess, type HostProcess } from '../support/host-process.ts';
import { cpuSeconds, inFreshFolder } from './measure.ts';
import type { BenchOptions } from './run.ts';
import { slowSync } from './slow-sync.ts';

const inFlight = 32;
const slowMs = 4;

/**
 * Measures publishing with a token at 32 connections against the limit of one sync per message, on this computer's disk
 * and on one whose sync takes as long as that of a common hard disk.
 */
export async function benchPublish({ quick, print }: BenchOptions): Promise<void> {
  const messages = quick ? 1000 : 4000;
  const fastDisk = await compare({}, messages);
  print(
    { what: 'publish, token, 32 connections', measured: fastDisk.rate, unit: '/s' },
    { what: 'publish (CPU each)', measured: fastDisk.cpuMs, unit: 'ms' },
    { what: 'single commits on this disk', measured: fastDisk.singleCommits, unit: '/s' },
    {
      what: 'publish against single commits, this disk',
      measured: fastDisk.rate / fastDisk.singleCommits,
      unit: 'times',
    },
  );
  const slow = await inFreshFolder((folder) => compare(slowSync(folder, slowMs), messages / 4));
  print({
    what: `publish against single commits, ${slowMs} ms a sync`,
    measured: slow.rate / slow.singleCommits,
    unit: 'times',
    goal: { at: 'least', value: 3 },
  });
}

function compare(
  environment: Record<string, string>,
  count: number,
): Promise<{ rate: number; cpuMs: number; singleCommits: number }> {
  return inFreshFolder(async (folder) => {
    const before = singleCommits(folder, environment);
    await using host = await startHostProcess(folder, { environment });
    const publish = await publisher(host);
    await publish(count / 8);
    const pid = host.child.pid ?? 0;
    const cpu = cpuSeconds(pid);
    const started = performance.now();
    await publish(count);
    const rate = count / ((performance.now() - started) / 1000);
    const cpuMs = ((cpuSeconds(pid) - cpu) / count) * 1000;
    return { rate, cpuMs, singleCommits: (before + singleCommits(folder, environment)) / 2 };
  });
}

async function publisher(host: HostProcess): Promise<(count: number) => Promise<void>> {
  const { text: token } = await api<{ text: string }>(host.url('control'), `/api/accounts/${admin.name}/tokens`, {
    method: 'POST',
    body: JSON.stringify({ label: 'bench' }),
  });
  return async (count) => {
    const agent = new Agent({ connections: inFlight, pipelining: 1 });
    let remaining = count;
    const sender = async (): Promise<void> => {
      while ((remaining -= 1) >= 0) {
        const { statusCode, body } = await request(`${host.url('push')}/bench-info-monitoring`, {
          dispatcher: agent,
          method: 'POST',
          headers: { Authorization: `Bearer ${token}`, Title: 'Load', Tags: 'a,b', Priority: '4' },
          body: 'x'.repeat(64),
        });
        await body.dump();
        if (statusCode !== 200) throw new Error(`publish answered ${statusCode}`);
      }
    };
    await Promise.all(Array.from({ length: inFlight }, sender));
    await agent.close();
  };
}

function singleCommits(folder: string, environment: Record<string, string>): number {
  const script = fileURLToPath(new URL('single-commits.ts', import.meta.url));
  const { stdout } = spawnSync(process.execPath, [script, folder], {
    env: { ...process.env, ...environment },
    encoding: 'utf8',
  });
  return Number(stdout);
}
