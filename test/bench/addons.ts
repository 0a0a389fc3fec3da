import { Agent, createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addons } from '../../services/addons/index.ts';
import { control } from '../../services/control/index.ts';
import { openTestHost } from '../support/host.ts';
import type { BenchOptions } from './run.ts';

const agent = new Agent({ keepAlive: true });
const upstreams = 5;
const streamsEach = 200;
const resolutions = ['2160p', '1080p', '720p', '480p'];
const qualities = ['BluRay.REMUX', 'WEB-DL', 'WEBRip', 'HDTV', 'BluRay'];
const sounds = ['TrueHD.7.1.Atmos', 'DDP5.1', 'AAC2.0', 'DTS-HD.MA.5.1'];

/** Five addons of 200 streams; names are new for each title unless it says otherwise. */
async function openUpstream(number: number) {
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    response.setHeader('content-type', 'application/json');
    if (path === '/manifest.json')
      return void response.end(
        JSON.stringify({
          id: `b${String(number)}`,
          name: 'B',
          version: '1.0.0',
          resources: ['stream'],
          types: ['movie'],
          catalogs: [],
        }),
      );
    const title = /tt(\d+)/.exec(path)?.[1] ?? '0';
    const seed = path.includes('known') ? '1' : title;
    const streams = Array.from({ length: streamsEach }, (_, at) => {
      const name = `The.Film.${seed}.${String(1950 + (at % 70))}.${resolutions[at % 4] ?? ''}.${qualities[at % 5] ?? ''}.${sounds[(at >> 2) % 4] ?? ''}.x265-GRP${String(number)}x${String(at)}.mkv`;
      return {
        name: '[RD+] Up',
        description: `${name}\n👤 ${String(at)} 💾 ${String(1 + (at % 60))} GB ⚙️ Idx\n🇬🇧 / 🇫🇷`,
        url: `http://127.0.0.1:1/${title}/${String(at)}`,
        behaviorHints: { filename: name, videoSize: (1 + at) * 1e8 },
      };
    });
    response.end(JSON.stringify({ streams }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/manifest.json`,
    close: () => server.close(),
  };
}

/** What lists of a thousand streams cost; the fake addons and the client in the same process are measured apart and taken off. */
export async function benchAddons({ quick, tell }: BenchOptions): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'homeport-bench-addons-'));
  const fakes = await Promise.all(Array.from({ length: upstreams }, (_, number) => openUpstream(number)));
  const host = await openTestHost({
    dataDir,
    services: [addons, control],
    environment: { DISABLE_RATE_LIMITS: 'true' },
  });
  const presets = fakes.map(({ url }, at) => ({
    type: 'custom',
    instanceId: `b${String(at)}`,
    enabled: true,
    options: { name: `B${String(at)}`, manifestUrl: url },
  }));
  const config = {
    presets,
    formatter: { id: 'torrentio' },
    sortCriteria: { global: [{ key: 'resolution' }, { key: 'size' }] },
    preferredResolutions: resolutions,
    excludedQualities: ['CAM'],
    deduplicator: { enabled: true },
  };
  const made = (await (
    await fetch(`${host.url('addons')}/api/v1/user`, {
      method: 'POST',
      body: JSON.stringify({ config, password: 'bench-pass' }),
    })
  ).json()) as { data: { uuid: string; encryptedPassword: string } };
  const base = `${host.url('addons')}/stremio/${made.data.uuid}/${made.data.encryptedPassword}/stream/movie`;
  let title = 100_000;
  const ask = async (id: string): Promise<void> => {
    // Unpacking is the player's work.
    await new Promise<void>((resolve, reject) => {
      get(`${base}/${id}.json`, { agent, headers: { 'accept-encoding': 'gzip' } }, (response) => {
        response.resume().once('end', resolve);
      }).once('error', reject);
    });
  };
  /** CPU of the fakes and of fetching from them, which the service's own share is told without. */
  const fakeCpu = await cpuOf(async () => {
    for (const { url } of fakes)
      await (await fetch(url.replace('manifest.json', `stream/movie/tt${String((title += 1))}.json`))).arrayBuffer();
  });
  const rounds = quick ? 20 : 100;
  const average = async (next: () => string, without: number): Promise<number> => {
    let sum = 0;
    for (let round = 0; round < rounds; round += 1) sum += await cpuOf(() => ask(next()));
    return Math.max(0, sum / rounds - without);
  };
  for (let round = 0; round < 30; round += 1) await ask(`tt${String((title += 1))}`);
  tell({
    what: 'addons: 1,000 streams with names never seen, CPU',
    measured: await average(() => `tt${String((title += 1))}`, fakeCpu),
    unit: 'ms',
    goal: { at: 'most', value: 80 },
  });
  tell({
    what: 'addons: 1,000 streams with known names, CPU',
    measured: await average(() => `tt${String((title += 1))}known`, fakeCpu),
    unit: 'ms',
    goal: { at: 'most', value: 25 },
  });
  await ask('tt1');
  tell({
    what: 'addons: the same again from the cache, CPU',
    measured: await average(() => 'tt1', 0),
    unit: 'ms',
    goal: { at: 'most', value: 3 },
  });
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1)
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        const began = performance.now();
        await ask('tt1');
        times.push(performance.now() - began);
      }),
    );
  times.sort((one, other) => one - other);
  const at = (share: number): number => times[Math.floor((times.length - 1) * share)] ?? 0;
  tell({
    what: 'addons: p99 by p50 of 16 at once from the cache',
    measured: at(0.99) / at(0.5),
    unit: 'times',
    goal: { at: 'most', value: 10 },
  });
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  for (let round = 0; round < (quick ? 1000 : 10_000); round += 1)
    await ask(round % 10 === 0 ? `tt${String((title += 1) % 500)}` : 'tt1');
  globalThis.gc?.();
  tell({
    what: `addons: RSS added by ${quick ? '1,000' : '10,000'} requests`,
    measured: (process.memoryUsage.rss() - before) / 1024 ** 2,
    unit: 'MB',
    goal: { at: 'most', value: 80 },
  });
  agent.destroy();
  await host[Symbol.asyncDispose]();
  for (const fake of fakes) fake.close();
  rmSync(dataDir, { recursive: true, force: true });
}

/** ms of this process's CPU. */
async function cpuOf(work: () => Promise<void>): Promise<number> {
  const began = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000;
}
