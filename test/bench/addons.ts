import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startHostProcess } from '../support/host-process.ts';
import { cpuSeconds, inFreshFolder, percentile, residentMegabytes, untilIdle } from './measure.ts';
import type { BenchOptions } from './run.ts';

const password = 'bench-pass';
const hangMs = 1000;
const restMs = 45_000;

/**
 * Measures the cost of lists of a thousand streams for a whole host, in a separate process like the addons that it
 * requests.
 */
export function benchAddons({ quick, print }: BenchOptions): Promise<void> {
  const rounds = quick ? 20 : 100;
  return inFreshFolder(async (folder) => {
    const upstreams = spawn(process.execPath, [fileURLToPath(new URL('addons-upstreams.ts', import.meta.url))], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const agent = new Agent({ keepAlive: true });
    try {
      const [line] = (await once(upstreams.stdout, 'data')) as [Buffer];
      const ports = line.toString().trim().split(' ');
      await using host = await startHostProcess(folder, { environment: { DISABLE_RATE_LIMITS: 'true' } });
      const pid = host.child.pid ?? 0;
      /** Waits half a minute: an idle host then collects garbage automatically. */
      const resident = async (): Promise<number> => {
        await untilIdle(pid);
        await sleep(restMs);
        return residentMegabytes(pid);
      };
      const make = async (chosen: readonly string[]): Promise<string> => {
        const presets = chosen.map((port, index) => ({
          ...{ type: 'custom', instanceId: `b${String(index)}`, enabled: true },
          options: {
            name: `B${String(index)}`,
            manifestUrl: `http://127.0.0.1:${port}/manifest.json`,
            timeout: hangMs,
          },
        }));
        const config = {
          presets,
          formatter: { id: 'torrentio' },
          sortCriteria: { global: [{ key: 'resolution' }, { key: 'size' }] },
          preferredResolutions: ['2160p', '1080p', '720p', '480p'],
          excludedQualities: ['CAM'],
          deduplicator: { enabled: true },
        };
        const reply = await fetch(`${host.url('addons')}/api/v1/user`, {
          method: 'POST',
          body: JSON.stringify({ config, password }),
        });
        if (!reply.ok) throw new Error(await reply.text());
        const { data } = (await reply.json()) as { data: { uuid: string; encryptedPassword: string } };
        return `${host.url('addons')}/stremio/${data.uuid}/${data.encryptedPassword}/stream/movie`;
      };
      const base = await make(ports.slice(0, -1));
      const atFirst = await resident();
      const askAt = async (place: string, id: string): Promise<void> => {
        // Unpacking is the player's work.
        await new Promise<void>((resolve, reject) => {
          get(`${place}/${id}.json`, { agent, headers: { 'accept-encoding': 'gzip' } }, (response) => {
            response.resume().once('end', resolve);
          }).once('error', reject);
        });
      };
      const sendRequest = (id: string): Promise<void> => askAt(base, id);
      let title = 100_000;
      const nextTitle = (): string => `tt${String((title += 1))}`;
      const average = async (next: () => string, times: number): Promise<number> => {
        await untilIdle(pid);
        const before = cpuSeconds(pid);
        for (let round = 0; round < times; round += 1) await sendRequest(next());
        return ((cpuSeconds(pid) - before) / times) * 1000;
      };
      for (let round = 0; round < 30; round += 1) await sendRequest(nextTitle());
      print({
        what: 'addons: 1,000 streams with names never seen, CPU',
        ...{ measured: await average(nextTitle, rounds), unit: 'ms', goal: { at: 'most', value: 80 } },
      });
      print({
        what: 'addons: 1,000 streams with known names, CPU',
        ...{
          measured: await average(() => `${nextTitle()}known`, rounds),
          unit: 'ms',
          goal: { at: 'most', value: 25 },
        },
      });
      await sendRequest('tt1');
      print({
        what: 'addons: the same again from the cache, CPU',
        ...{ measured: await average(() => 'tt1', rounds * 5), unit: 'ms', goal: { at: 'most', value: 3 } },
      });
      const requestConcurrently = async (place: string): Promise<readonly number[]> => {
        const times: number[] = [];
        for (let round = 0; round < rounds; round += 1)
          await Promise.all(
            Array.from({ length: 16 }, async () => {
              const startedAt = performance.now();
              await askAt(place, 'tt1');
              times.push(performance.now() - startedAt);
            }),
          );
        return times;
      };
      // Alternates with a program that only sends the same number of bytes; the remaining time is spent by the
      // computer.
      const [times, bare] = [
        await requestConcurrently(base),
        await requestConcurrently(`http://127.0.0.1:${ports[0] ?? ''}/bare`),
      ];
      const spread = (list: readonly number[]): number => percentile(list, 0.99) / percentile(list, 0.5);
      print(
        {
          what: 'addons: p50 of 16 concurrent requests from the cache',
          ...{ measured: percentile(times, 0.5), unit: 'ms', peer: percentile(bare, 0.5) },
        },
        { what: 'addons: p99', measured: percentile(times, 0.99), unit: 'ms', peer: percentile(bare, 0.99) },
        {
          what: 'addons: p99 by p50',
          ...{ measured: spread(times), unit: 'times', peer: spread(bare), goal: { at: 'most', value: 10 } },
        },
      );
      const slow = await make(ports);
      const waitTimes: number[] = [];
      for (let round = 0; round < 5; round += 1) {
        const began = performance.now();
        await askAt(slow, nextTitle());
        waitTimes.push(performance.now() - began);
      }
      print({
        what: `addons: with one that hangs and may take ${String(hangMs)} ms`,
        ...{ measured: percentile(waitTimes, 0.5), unit: 'ms', goal: { at: 'most', value: hangMs + 250 } },
      });
      const many = quick ? 1000 : 10_000;
      const readMemory = async (): Promise<number> => {
        for (let round = 0; round < many; round += 1)
          await sendRequest(round % 10 === 0 ? `tt${String((title += 1) % 500)}` : 'tt1');
        return await resident();
      };
      const after = await readMemory();
      print({
        what: `addons: RSS added by ${String(many)} requests and all before`,
        ...{ measured: after - atFirst, unit: 'MB', goal: { at: 'most', value: 80 } },
      });
      print({ what: 'addons: and by as many again', measured: (await readMemory()) - after, unit: 'MB' });
    } finally {
      agent.destroy();
      upstreams.kill();
    }
  });
}
