import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { io } from 'socket.io-client';
import { sharedEngines } from '../support/engines.ts';
import { startFixtureSite, type FixtureSite } from '../support/fixture-site/site.ts';
import { startHostProcess, type HostProcess } from '../support/host-process.ts';
import { inFreshFolder, percentile } from './measure.ts';
import { endedChildrenCpuSeconds, treeCpuSeconds, treeMegabytes } from './process-tree.ts';
import type { BenchOptions, Figure } from './run.ts';

const smallFiles = 20;
const bound = 3;
const gibibyte = 1024 ** 3;
const settleMs = 13_000;

/** Measurement of one of the two programs. */
interface Taken {
  readonly seconds: number;
  readonly cpuSeconds: number;
}

/** Measures the downloads service in the real program, alternately with the command line of yt-dlp. */
export function benchDownloads({ quick, print }: BenchOptions): Promise<void> {
  const rounds = quick ? 1 : 3;
  return inFreshFolder(async (folder) => {
    await using site = await startFixtureSite();
    await using large = await serveZeros(gibibyte);
    const executable = (await sharedEngines().find('yt-dlp')).path;
    if (executable === null) throw new Error('yt-dlp is not there; the tests install it');
    // The compile cache of the first start is used by all later ones.
    await (await startService(join(folder, 'compile'))).stop();
    const downloadDirectly = async (urls: readonly string[]) =>
      await measureCommandLine(executable, join(folder, 'plain'), urls);
    print(...(await measureSmallFiles(folder, site, downloadDirectly, rounds)));
    print(...(await one(folder, large.url, downloadDirectly, rounds)));
    print(...(await playlist(folder, site, 500)));
    print(...(await playlist(folder, site, 5000)));
    print(...(await atWork(folder, site)));
  });
}

async function measureSmallFiles(
  folder: string,
  site: FixtureSite,
  downloadDirectly: Plainly,
  rounds: number,
): Promise<readonly Figure[]> {
  await using host = await startService(join(folder, 'small'));
  const addresses = (tag: string): readonly string[] =>
    Array.from({ length: smallFiles }, (_, index) => site.url(`/single.mp4?${tag}-${index}`));
  const first: Taken[] = [await measureHost(host, addresses('first'))];
  const ours: Taken[] = [];
  const directDownloads: Taken[] = [];
  for (let round = 0; round < rounds; round += 1) {
    directDownloads.push(await downloadDirectly(addresses(`plain-${round}`)));
    ours.push(await measureHost(host, addresses(`ours-${round}`)));
  }
  const label = `downloads: ${smallFiles} small files, ${bound} at the same time`;
  return [
    compared(label, ours, directDownloads, ({ seconds }) => seconds, 0.7),
    compared(`${label} (CPU)`, ours, directDownloads, ({ cpuSeconds }) => cpuSeconds),
    compared(`${label}, the first ones after a start`, first, directDownloads, ({ seconds }) => seconds),
  ];
}

async function one(folder: string, url: string, downloadDirectly: Plainly, rounds: number): Promise<readonly Figure[]> {
  await using host = await startService(join(folder, 'large'));
  const ours: Taken[] = [];
  const directDownloads: Taken[] = [];
  for (let round = 0; round < 2 * rounds; round += 1) {
    const both = [
      async () => void directDownloads.push(await downloadDirectly([`${url}?plain-${round}`])),
      async () => void ours.push(await measureHost(host, [`${url}?ours-${round}`])),
    ];
    for (const work of round % 2 === 0 ? both : both.toReversed()) await work();
    rmSync(join(folder, 'large', 'Downloads'), { recursive: true });
  }
  return [
    compared('downloads: one file of 1 GiB', ours, directDownloads, ({ seconds }) => seconds, 1.03),
    compared('downloads: one file of 1 GiB (CPU)', ours, directDownloads, ({ cpuSeconds }) => cpuSeconds),
  ];
}

async function playlist(folder: string, site: FixtureSite, entries: number): Promise<readonly Figure[]> {
  await using host = await startService(join(folder, `playlist-${entries}`));
  const post = async (path: string, body: object): Promise<void> => {
    const reply = await fetch(host.url('downloads') + path, { method: 'POST', body: JSON.stringify(body) });
    const { status } = (await reply.json()) as { status: string };
    if (status !== 'ok') throw new Error(`${path} answered ${status}`);
  };
  const queued = async (): Promise<readonly { uid: string }[]> => {
    const history = await (await fetch(`${host.url('downloads')}/history`)).json();
    return (history as { queue: readonly { uid: string }[] }).queue;
  };
  await post('/pause', {});
  const started = performance.now();
  await post('/add', { url: site.url(`/feed/${entries}.rss`), quality: 'best', format: 'any' });
  const answered = performance.now();
  let rows = await queued();
  while (rows.length < entries) rows = await queued();
  const visible = performance.now();
  await post('/delete', { where: 'queue', ids: rows.map(({ uid }) => uid) });
  while ((await queued()).length > 0) await sleep(10);
  const removed = performance.now();
  const label = `downloads: a playlist of ${entries}`;
  const goal = (value: number): Figure['goal'] & object => ({ at: 'most', value: entries > 500 ? value * 10 : value });
  return [
    { what: `${label}, answer to /add`, unit: 's', measured: (answered - started) / 1000, goal: goal(2) },
    { what: `${label}, all rows to be seen`, unit: 's', measured: (visible - started) / 1000, goal: goal(3) },
    { what: `${label}, removed`, unit: 's', measured: (removed - visible) / 1000, goal: goal(0.5) },
  ];
}

/**
 * Measures memory with three running downloads, and the rate of their progress reports. The service runs within the
 * host, so its memory and that of its worker are the difference to a host without it at the same moment.
 */
async function atWork(folder: string, site: FixtureSite): Promise<readonly Figure[]> {
  await using withoutServices = await startService(join(folder, 'bare'), 'off');
  await using host = await startService(join(folder, 'work'));
  using hostEvents = follow(host);
  // Waits until both have freed the memory of their start.
  await sleep(settleMs);
  const idle = treeMegabytes(host.child.pid ?? 0);
  for (let index = 0; index < bound; index += 1) {
    const body = JSON.stringify({ url: site.slow(60, 'big.mp4', String(index)), quality: 'best', format: 'any' });
    await fetch(`${host.url('downloads')}/add`, { method: 'POST', body });
  }
  while (hostEvents.progress().size < bound) await sleep(100);
  const before = hostEvents.progress();
  const seconds = 10;
  await sleep(seconds * 1000);
  const events = [...hostEvents.progress()].map(([url, count]) => (count - (before.get(url) ?? 0)) / seconds);
  const totalMegabytes = treeMegabytes(host.child.pid ?? 0);
  const without = treeMegabytes(withoutServices.child.pid ?? 0);
  const goal = { at: 'most', value: 150 } as const;
  return [
    {
      what: `downloads: service and worker, ${bound} under way (PSS)`,
      unit: 'MB',
      measured: totalMegabytes - without,
      goal,
    },
    { what: 'downloads: … the whole host with them', unit: 'MB', measured: totalMegabytes },
    { what: 'downloads: … the whole host before the first of them', unit: 'MB', measured: idle },
    {
      ...{ what: 'downloads: events of the busiest download', unit: '/s', measured: Math.max(...events) },
      goal: { at: 'most', value: 4 },
    },
  ];
}

type Plainly = (urls: readonly string[]) => Promise<Taken>;

/** Runs yt-dlp's command line, one process per address, with the concurrency of the service. */
async function measureCommandLine(executable: string, folder: string, urls: readonly string[]): Promise<Taken> {
  mkdirSync(folder, { recursive: true });
  const waiting = urls.map((url, index) => ({ url, name: `${index}.%(ext)s` }));
  const cpu = endedChildrenCpuSeconds();
  const started = performance.now();
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const args = ['--ignore-config', '--quiet', '-P', folder, '-o', next.name, '--', next.url];
      const [code] = (await once(spawn(executable, args, { stdio: 'ignore' }), 'exit')) as [number | null];
      if (code !== 0) throw new Error(`yt-dlp ended with ${code}`);
    }
  };
  await Promise.all(Array.from({ length: bound }, work));
  const seconds = (performance.now() - started) / 1000;
  rmSync(folder, { recursive: true });
  return { seconds, cpuSeconds: endedChildrenCpuSeconds() - cpu };
}

/** Measures the time from the first request to the last file. */
async function measureHost(host: HostProcess, urls: readonly string[]): Promise<Taken> {
  using hostEvents = follow(host);
  await hostEvents.ready;
  const cpu = treeCpuSeconds(host.child.pid ?? 0);
  const started = performance.now();
  await Promise.all(
    urls.map(async (url) => {
      const body = JSON.stringify({ url, quality: 'best', format: 'any' });
      await fetch(`${host.url('downloads')}/add`, { method: 'POST', body });
    }),
  );
  await hostEvents.completed(urls);
  return { seconds: (performance.now() - started) / 1000, cpuSeconds: treeCpuSeconds(host.child.pid ?? 0) - cpu };
}

/** Follows the live events, as the peer's page does. */
function follow(host: HostProcess): Disposable & {
  readonly ready: Promise<void>;
  /** Received events by address. */
  progress(): Map<string, number>;
  completed(urls: readonly string[]): Promise<void>;
} {
  const socket = io(host.url('downloads'), { transports: ['websocket'], forceNew: true });
  const events = new Map<string, number>();
  const done = new Set<string>();
  const ready = Promise.withResolvers<void>();
  let look: () => void = () => undefined;
  socket.on('custom_dirs', () => ready.resolve());
  socket.on('updated', (text: string) => {
    const { url, percent } = JSON.parse(text) as { url: string; percent: number | null };
    if (percent !== null) events.set(url, (events.get(url) ?? 0) + 1);
  });
  socket.on('completed', (text: string) => {
    const { url, status, error } = JSON.parse(text) as { url: string; status: string; error: string | null };
    if (status !== 'finished') throw new Error(`${url}: ${error ?? status}`);
    done.add(url);
    look();
  });
  return {
    ready: ready.promise,
    progress: () => new Map(events),
    async completed(urls) {
      while (!urls.every((url) => done.has(url))) await new Promise<void>((resolve) => (look = resolve));
    },
    [Symbol.dispose]: () => void socket.disconnect(),
  };
}

/** Starts the host with only this service, or without it. */
async function startService(folder: string, service: 'on' | 'off' = 'on'): Promise<HostProcess> {
  mkdirSync(folder, { recursive: true });
  const off = ['NOTIFY', 'PUSH', 'MAIL', 'INBOX', ...(service === 'off' ? ['DOWNLOADS'] : [])];
  const others = off.map((name) => [`HOMEPORT_ENABLED_${name}`, 'false']);
  return await startHostProcess(folder, {
    environment: {
      ...{ ALLOW_PRIVATE_ADDRESSES: 'true', DOWNLOAD_MODE: 'concurrent', MAX_CONCURRENT_DOWNLOADS: String(bound) },
      ...Object.fromEntries(others),
    },
  });
}

/** Serves one large file from memory at full speed. */
async function serveZeros(size: number): Promise<AsyncDisposable & { readonly url: string }> {
  const zeros = Buffer.alloc(1024 * 1024);
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'video/mp4', 'Content-Length': size, 'Accept-Ranges': 'none' });
    let remaining = size;
    const send = (): void => {
      while (remaining > 0) {
        const more = response.write(remaining < zeros.length ? zeros.subarray(0, remaining) : zeros);
        remaining -= Math.min(remaining, zeros.length);
        if (!more) return;
      }
      response.end();
    };
    response.on('drain', send);
    send();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/large.mp4`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Builds rows with the medians of both. `ratio` is the goal. */
function compared(
  label: string,
  ours: readonly Taken[],
  directDownloads: readonly Taken[],
  value: (measureHost: Taken) => number,
  ratio?: number,
): Figure {
  return {
    what: label,
    unit: 's',
    measured: percentile(ours.map(value), 0.5),
    peer: percentile(directDownloads.map(value), 0.5),
    ...(ratio === undefined ? {} : { goal: { at: 'most', value: ratio, of: 'ratio' } }),
  };
}
