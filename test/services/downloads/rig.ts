import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { vi } from 'vitest';
import { sharedEngines } from '../../support/engines.ts';
import { downloads } from '../../../services/downloads/index.ts';
import { startFixtureSite, type FixtureSite } from '../../support/fixture-site/site.ts';
import { openTestHost, type TestHost, type TestHostOptions } from '../../support/host.ts';
import { useRecordedExtractor } from '../../support/recorded-extractor/recorded-extractor.ts';
import { needs } from '../../support/requirements.ts';

needs('yt-dlp', 'ffmpeg', 'POSIX shell');

const run = promisify(execFile);

/** Record in MeTube's format, with the fields that tests read. */
export interface Record {
  readonly uid: string;
  readonly url: string;
  readonly title: string;
  readonly status: string;
  readonly percent: number | null;
  /** Speed in bytes per second. */
  readonly speed: number | null;
  readonly filename?: string;
  readonly size: number | null;
  readonly error: string | null;
  readonly msg: string | null;
  readonly live_status?: string | null;
  readonly live_release_timestamp?: number | null;
}

export interface History {
  readonly done: readonly Record[];
  readonly queue: readonly Record[];
  readonly pending: readonly Record[];
}

/** Response of `/add` and the other POST routes. */
export interface AddResponse {
  readonly status: string;
  readonly msg?: string;
  readonly uid?: string;
  readonly uids?: readonly string[];
  readonly unknown?: readonly string[];
  readonly paused?: boolean;
}

/** Client of a running downloads service. */
export class Client {
  readonly base: string;
  constructor(base: string) {
    this.base = base;
  }

  async post(path: string, body: unknown): Promise<AddResponse> {
    const reply = await fetch(this.base + path, { method: 'POST', body: JSON.stringify(body) });
    return (await reply.json()) as AddResponse;
  }

  async get<T>(path: string): Promise<T> {
    return (await (await fetch(this.base + path)).json()) as T;
  }

  /** Adds an address and returns its uid. */
  async add(url: string, fields: object = {}): Promise<string> {
    const response = await this.post('/add', { url, quality: 'best', format: 'any', ...fields });
    if (response.uid === undefined) throw new Error(`not added: ${JSON.stringify(response)}`);
    return response.uid;
  }

  /** Returns the UIDs of the queue in order. */
  async order(): Promise<readonly string[]> {
    return (await this.history()).queue.map(({ uid }) => uid);
  }

  async history(): Promise<History> {
    return await this.get('/history');
  }

  /** Waits until the record of a download meets the condition. */
  async until(uid: string, isExpected: (record: Record) => boolean, timeoutMs = 120_000): Promise<Record> {
    return await vi.waitFor(
      async () => {
        const { done, queue, pending } = await this.history();
        const record = [...done, ...queue, ...pending].find((entry) => entry.uid === uid);
        if (record === undefined || !isExpected(record)) throw new Error(`still ${JSON.stringify(record)}`);
        return record;
      },
      { timeout: timeoutMs, interval: 100 },
    );
  }

  /** Waits until this number of downloads have finished or failed and the queue is empty. */
  async untilAll(count: number): Promise<History> {
    return await vi.waitFor(
      async () => {
        const history = await this.history();
        if (history.done.length < count || history.queue.length > 0) throw new Error(JSON.stringify(history));
        return history;
      },
      { timeout: 120_000, interval: 100 },
    );
  }

  /** Waits until the download has finished or failed. */
  async ended(uid: string, timeoutMs?: number): Promise<Record> {
    return await this.until(uid, ({ status }) => status === 'finished' || status === 'error', timeoutMs);
  }
}

export interface Rig extends AsyncDisposable {
  readonly site: FixtureSite;
  readonly host: TestHost;
  readonly client: Client;
  /** Returns the absolute path in the download folder. */
  readonly file: (name: string) => string;
}

/** Site whose feed responds on request of the test. The feed contains these titles, whose videos do not exist. */
export interface HeldFeed extends AsyncDisposable {
  readonly url: string;
  /** Resolves when a request waits for the response. */
  readonly requested: Promise<unknown>;
  answer(titles: readonly string[]): void;
}

export async function holdFeed(): Promise<HeldFeed> {
  const requested = Promise.withResolvers<ServerResponse>();
  const published = Promise.withResolvers<readonly string[]>();
  const server = createServer((request, response) => {
    if (request.url !== '/feed.rss') return void response.writeHead(404).end();
    requested.resolve(response);
    void published.promise.then((titles) => {
      const items = titles.map(
        (title) => `<item><title>${title}</title><enclosure url="${address}/${title}.mp4"/></item>`,
      );
      response.writeHead(200, { 'Content-Type': 'application/rss+xml' });
      response.end(
        `<?xml version="1.0"?><rss version="2.0"><channel><title>Held</title>${items.join('')}</channel></rss>`,
      );
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${address}/feed.rss`,
    requested: requested.promise,
    answer: published.resolve,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

let required: Promise<void> | undefined;

/** Installs the extractor for tests once, with Homeport's installer. */
export function requireEngines(): Promise<void> {
  // Reading the version starts a Python process.
  return (required ??= installEngines());
}

async function installEngines(): Promise<void> {
  const engines = sharedEngines();
  if ((await engines.find('yt-dlp')).path === null) await engines.install('yt-dlp');
}

/** Installs the dependency with which yt-dlp imitates browsers, which older installations lack. */
export async function requireImpersonation(): Promise<void> {
  const engines = sharedEngines();
  const library = await engines.library('yt-dlp');
  const folders = library === undefined ? [] : [library.path, join(dirname(library.path), 'packages')];
  if (!folders.some((folder) => existsSync(join(folder, 'curl_cffi')))) await engines.install('yt-dlp');
}

/** Opens a host with the downloads service and the fixture site. */
export async function openRig(options: TestHostOptions = {}): Promise<Rig> {
  if (options.environment?.['YTDLP_PATH'] === undefined) await requireEngines();
  await using opening = new AsyncDisposableStack();
  const site = opening.use(await startFixtureSite());
  const host = opening.use(
    await openTestHost({
      services: [downloads],
      ...options,
      environment: { ALLOW_PRIVATE_ADDRESSES: 'true', DOWNLOAD_MODE: 'concurrent', ...options.environment },
    }),
  );
  const resources = opening.move();
  return {
    site,
    host,
    client: new Client(host.url('downloads')),
    file: (name) => join(host.dataDir, 'Downloads', name),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/**
 * Opens a host like {@link openRig}, which runs yt-dlp's recorded answers in place of yt-dlp. The subject of its tests is
 * the service, not what yt-dlp decides (formats, conversion, subtitles, cookies, live streams, names).
 */
export async function openRecordedRig(options: TestHostOptions = {}): Promise<Rig> {
  return await openRig({ ...options, environment: { ...useRecordedExtractor(), ...options.environment } });
}

/**
 * Creates a data folder whose settings file contains these settings of the service, which have no environment
 * variables.
 */
export function dataFolderWith(settings: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'homeport-downloads-'));
  writeFileSync(join(folder, 'homeport.yaml'), JSON.stringify({ version: 1, services: { downloads: settings } }));
  return folder;
}

/**
 * Creates a replacement for the extractor in this folder. `answer` is a shell script for all calls except `--version`.
 */
export function fakeEngine(folder: string, answer: string, version = '2026.10.26'): { readonly YTDLP_PATH: string } {
  const path = join(folder, 'yt-dlp');
  const script = `#!/bin/sh\nif [ "$1" = --version ]; then echo ${version}; exit 0; fi\n${answer}\n`;
  writeFileSync(path, script, { mode: 0o755 });
  return { YTDLP_PATH: path };
}

/** Returns the size of the unfinished media in the folder of a download. */
export async function partBytes(dataDir: string, uid: string): Promise<number> {
  const folder = join(dataDir, 'downloads', 'temp', uid, 'part');
  const names = await readdir(folder).catch((): string[] => []);
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Returns the processes whose command line, or an open file, contains the text. */
export async function processesNaming(text: string): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const processIds: number[] = [];
  for (const pid of pids) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (line.includes(text) || (await openFiles(pid)).some((file) => file.includes(text))) processIds.push(Number(pid));
  }
  return processIds;
}

async function openFiles(pid: string): Promise<readonly string[]> {
  const folder = `/proc/${pid}/fd`;
  const names = await readdir(folder).catch((): string[] => []);
  return await Promise.all(names.map((name) => readlink(join(folder, name)).catch(() => '')));
}

/** Returns the streams of a file as `codec` or `codec/height`, read by ffprobe. */
export async function streams(path: string): Promise<readonly string[]> {
  const { stdout } = await run('ffprobe', [
    '-v',
    'error',
    '-show_entries',
    'stream=codec_name,height',
    '-of',
    'json',
    path,
  ]);
  const probe = JSON.parse(stdout) as { streams: readonly { codec_name: string; height?: number }[] };
  return probe.streams.map(({ codec_name: codec, height }) => (height === undefined ? codec : `${codec}/${height}`));
}
