import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { admin, adminAuthorization } from '../test/support/host.ts';
import { startFixtureSite } from '../test/support/fixture-site/site.ts';
import { startHostProcess, type HostProcess } from '../test/support/host-process.ts';

/** Messages and files that arrived in the demo. Times are in milliseconds. */
export interface DemoResult {
  readonly pushed: { readonly title: string; readonly message: string; readonly afterMs: number };
  readonly inbox: { readonly title: string; readonly source: string; readonly afterMs: number };
  readonly download: { readonly filename: string; readonly bytes: number; readonly afterMs: number };
  readonly notice: { readonly title: string; readonly afterMs: number };
}

interface InboxReply {
  readonly items: readonly { readonly title: string; readonly source: string }[];
}
interface DownloadsReply {
  readonly history: readonly {
    readonly state: string;
    readonly filename: string | null;
    readonly message: string | null;
  }[];
}

/**
 * Runs the first chain on a new headless host with real clients: swaks sends a mail, curl subscribes to the push topic, the
 * inbox has the row, yt-dlp downloads a video from a local site. `print` receives one line per step.
 */
export async function runDemo(print: (line: string) => void): Promise<DemoResult> {
  const dataDir = mkdtempSync(join(tmpdir(), 'homeport-demo-'));
  try {
    await using site = await startFixtureSite();
    const started = performance.now();
    await using host = await startHostProcess(dataDir, { environment: { ALLOW_PRIVATE_ADDRESSES: 'true' } });
    print(`host ready after ${getElapsedMs(started)} ms: ${host.output.at(-1) ?? ''}`);

    const sent = performance.now();
    const pushed = firstMessage(host, () => sendMail(host, 'Backup finished', 'All 3 volumes were saved.'));
    const { title, message, at } = await pushed;
    print(`swaks -> SMTP -> push: curl read "${title}" after ${Math.round(at - sent)} ms`);
    const row = await poll(async () => {
      const { items } = await api<InboxReply>(host, '/api/inbox');
      return items.find((item) => item.title.includes('Backup finished'));
    });
    const inbox = { ...row, afterMs: getElapsedMs(sent) };
    print(`inbox: "${row.title}" from ${row.source} after ${inbox.afterMs} ms`);

    const requestedAt = performance.now();
    const reply = await fetch(`${host.url('downloads')}/add`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ url: `${site.address}/single.mp4`, quality: 'best' }),
    });
    print(`POST /add answered ${reply.status} ${(await reply.text()).trim()} after ${getElapsedMs(requestedAt)} ms`);
    const finished = await poll(async () => {
      const { history } = await api<DownloadsReply>(host, '/api/downloads');
      const failed = history.find(({ state }) => state === 'failed');
      if (failed !== undefined) throw new Error(`the download failed: ${failed.message ?? ''}`);
      return history.find(({ state }) => state === 'finished');
    });
    const filename = finished.filename ?? '';
    const bytes = statSync(join(dataDir, 'Downloads', filename)).size;
    const download = { filename, bytes, afterMs: getElapsedMs(requestedAt) };
    print(`yt-dlp saved ${filename} (${bytes} bytes) after ${download.afterMs} ms`);
    const note = await poll(async () => {
      const { items } = await api<InboxReply>(host, '/api/inbox');
      return items.find((item) => item.source === 'downloads');
    });
    const notice = { title: note.title, afterMs: getElapsedMs(requestedAt) };
    print(`inbox: "${note.title}" after ${notice.afterMs} ms`);

    const stopping = performance.now();
    const code = await host.stop();
    print(`SIGTERM: stopped with exit code ${String(code)} after ${getElapsedMs(stopping)} ms`);
    return { pushed: { title, message, afterMs: Math.round(at - sent) }, inbox, download, notice };
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Subscribes to the topic with curl, sends when the stream is open, and returns the first message. */
async function firstMessage(
  host: HostProcess,
  send: () => Promise<void>,
): Promise<{ title: string; message: string; at: number }> {
  const curl = spawn('curl', ['-sN', '-u', `${admin.name}:${admin.password}`, `${host.url('push')}/homeport/json`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    for await (const line of createInterface({ input: curl.stdout })) {
      const event = JSON.parse(line) as { event: string; title?: string; message?: string };
      if (event.event === 'open') await send();
      if (event.event === 'message')
        return { title: event.title ?? '', message: event.message ?? '', at: performance.now() };
    }
    throw new Error('the stream ended before the first message');
  } finally {
    curl.kill();
  }
}

function sendMail(host: HostProcess, subject: string, body: string): Promise<void> {
  const args = [
    '--server',
    '127.0.0.1',
    '--port',
    String(host.port('mail')),
    '--from',
    'nas@example.org',
    '--to',
    'alerts@homeport.local',
  ];
  return new Promise((resolve, reject) => {
    const swaks = spawn('swaks', [...args, '--header', `Subject: ${subject}`, '--body', body, '--silent', '2'], {
      stdio: 'inherit',
    });
    swaks.on('error', reject);
    swaks.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`swaks ended with ${String(code)}`))));
  });
}

async function api<T>(host: HostProcess, path: string): Promise<T> {
  const reply = await fetch(host.url('control') + path, { headers: { Authorization: adminAuthorization } });
  if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
  return (await reply.json()) as T;
}

/** Polls until there is a result. Polling is necessary because the event happens in another process. */
async function poll<T>(request: () => Promise<T | undefined>): Promise<T> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const result = await request();
    if (result !== undefined) return result;
    if (performance.now() > deadline) throw new Error('no result within a minute');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function getElapsedMs(start: number): number {
  return Math.round(performance.now() - start);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await runDemo((line) => console.log(line));
