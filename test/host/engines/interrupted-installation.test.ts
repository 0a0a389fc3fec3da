import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openEngines, type HostEngines } from '../../../main/host/engines/engines.ts';
import { requestFile, requestText, saveFile } from '../../../main/host/engines/release/download.ts';
import type { Computer, EngineSpec } from '../../../services/contracts/control/engine-spec.ts';
import { buildZip } from '../../support/archives.ts';
import { silentLog } from '../../support/database-location.ts';
import { getSha256 } from '../../support/release-server.ts';
import { needs } from '../../support/requirements.ts';

needs('POSIX shell');

const computer: Computer = { platform: 'darwin', arch: 'arm64' };
/** Larger than the buffers of a connection, so that a server can stop in its middle. */
const padding = 4 * 1024 * 1024;

let folder: string;
let server: Server;
let url: string;
/** Answers a request for an archive. */
let answer: (response: ServerResponse, content: Buffer) => void;
const archives = new Map<string, Buffer>();

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'interrupted-'));
  answer = (response, content) => void response.end(content);
  server = createServer((request, response) => {
    const content = archives.get(request.url?.slice(1) ?? '');
    if (content === undefined) response.writeHead(404).end();
    else answer(response, content);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
  rmSync(folder, { recursive: true, force: true });
});

/** Publishes a version of an engine with this name, which no computer has. */
function publish(version: string, { sha256 }: { readonly sha256?: string } = {}): EngineSpec {
  const archive = buildZip([
    { name: 'harbour', content: `#!/bin/sh\necho "harbour ${version}"\n` },
    { name: 'padding', content: Buffer.alloc(padding, version) },
  ]);
  archives.set(`harbour-${version}.zip`, archive);
  const checksum = { sha256: sha256 ?? getSha256(archive) };
  return {
    name: 'harbour',
    title: 'Harbour',
    purpose: '',
    absence: '',
    removal: '',
    version: { arguments: ['--version'], pattern: /^harbour (\S+)$/ },
    sources: [
      {
        from: 'archive',
        version,
        files: { 'darwin-arm64': [{ address: `https://publisher.example/harbour-${version}.zip`, checksum }] },
      },
    ],
  };
}

function open(spec: EngineSpec): HostEngines {
  const root = join(folder, 'engines');
  return openEngines({ folder: root, specs: [spec], paths: () => ({}), log: silentLog, releases: url, computer });
}

const listFiles = (): readonly string[] => readdirSync(join(folder, 'engines', 'harbour'));

/** Sends the first half and then nothing more. */
const sendHalf = (response: ServerResponse, content: Buffer): void => {
  response.writeHead(200, { 'content-length': content.length });
  response.write(content.subarray(0, content.length / 2));
};

describe('interrupted installation', () => {
  it('leaves nothing and names the reason when the connection breaks', async () => {
    const engines = open(publish('1.0'));
    answer = (response, content) => {
      sendHalf(response, content);
      setTimeout(() => response.destroy(), 50);
    };
    await expect(engines.install('harbour')).rejects.toThrow(/The download from 127\.0\.0\.1:\d+ was interrupted/);
    expect(listFiles()).toEqual([]);
    expect(await engines.find('harbour')).toMatchObject({ path: null, source: 'missing' });
    answer = (response, content) => void response.end(content);
    expect(await engines.install('harbour')).toMatchObject({ version: '1.0', source: 'data' });
  });

  it('preserves the installed version when an update breaks or has another checksum', async () => {
    const before = await open(publish('1.0')).install('harbour');
    const files = listFiles();
    const update = open(publish('2.0'));
    answer = (response, content) => {
      sendHalf(response, content);
      setTimeout(() => response.destroy(), 50);
    };
    await expect(update.install('harbour')).rejects.toThrow('interrupted');
    answer = (response, content) => void response.end(content);
    const wrong = open(publish('2.0', { sha256: 'f'.repeat(64) }));
    await expect(wrong.install('harbour')).rejects.toThrow('harbour-2.0.zip doesn’t match its checksum');
    expect(await update.find('harbour', { refresh: true })).toMatchObject({ path: before.path, version: '1.0' });
    expect(listFiles()).toEqual(files);
  });

  it('leaves no program behind when the host is killed, and removes its files at the next one', async () => {
    const spec = publish('1.0');
    answer = sendHalf;
    const requested = once(server, 'request');
    const module = pathToFileURL(join(import.meta.dirname, '../../../main/host/engines/engines.ts')).href;
    const { version, ...rest } = spec;
    const options = { folder: join(folder, 'engines'), releases: url, computer };
    const script = `
      import { openEngines } from ${JSON.stringify(module)};
      const spec = { ...${JSON.stringify(rest)}, version: { arguments: ['--version'], pattern: ${String(version.pattern)} } };
      const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log };
      const engines = openEngines({ ...${JSON.stringify(options)}, specs: [spec], paths: () => ({}), log });
      await engines.install('harbour');`;
    const host = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' });
    await requested;
    await expect
      .poll(() => findDownloads().map((path) => readFileSync(path).length > 0), { timeout: 10_000 })
      .toEqual([true]);
    host.kill('SIGKILL');
    await once(host, 'exit');
    const engines = open(spec);
    expect(await engines.find('harbour')).toMatchObject({ path: null });
    expect(listFiles()).toEqual([expect.stringMatching(/^\.partial-/)]);
    answer = (response, content) => void response.end(content);
    expect(await engines.install('harbour')).toMatchObject({ version: '1.0' });
    expect(listFiles().toSorted()).toEqual([expect.stringMatching(/^1\.0-/), 'current']);
  }, 30_000);

  function findDownloads(): readonly string[] {
    const root = join(folder, 'engines');
    return readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.zip'))
      .map((name) => join(root, name));
  }
});

describe('download', () => {
  const options = { reportPercent: () => undefined };

  it('ends when the server sends nothing more', async () => {
    archives.set('file', Buffer.alloc(padding));
    answer = sendHalf;
    const response = await requestFile(`${url}/file`, 100);
    await expect(saveFile(response, join(folder, 'file'), options)).rejects.toThrow('was interrupted');
  });

  it('takes as long as the server sends data', async () => {
    archives.set('file', Buffer.alloc(20));
    answer = (response, content) => {
      response.writeHead(200);
      let sent = 0;
      const timer = setInterval(() => {
        sent += 1;
        if (sent <= content.length) return void response.write('x');
        clearInterval(timer);
        response.end();
      }, 60);
    };
    const response = await requestFile(`${url}/file`, 1000);
    await expect(saveFile(response, join(folder, 'file'), options)).resolves.toBe(getSha256('x'.repeat(20)));
  });

  it('refuses a list of checksums that is larger than 1 MiB', async () => {
    archives.set('list', Buffer.alloc(2 * 1024 * 1024, 'a'));
    await expect(requestText(`${url}/list`)).rejects.toThrow('list is larger than the limit of 1 MiB');
  });

  it('refuses a file that is larger than the limit, and names both', async () => {
    archives.set('tool.zip', Buffer.alloc(3 * 1024 * 1024));
    const maxBytes = 2 * 1024 * 1024;
    const save = async (): Promise<string> =>
      await saveFile(await requestFile(`${url}/tool.zip`), join(folder, 'file'), { ...options, maxBytes });
    await expect(save()).rejects.toThrow('tool.zip is larger than the limit of 2 MiB');
    // The announced length is enough to refuse it.
    expect(readdirSync(folder)).toEqual([]);
    answer = (response, content) => {
      response.write(content);
      response.end();
    };
    await expect(save()).rejects.toThrow('tool.zip is larger than the limit of 2 MiB');
  });
});
