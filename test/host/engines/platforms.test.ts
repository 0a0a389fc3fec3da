import * as engineTexts from '#messages/engine-texts';
import { execFile } from 'node:child_process';
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
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openEngines, type HostEngines } from '../../../main/host/engines/engines.ts';
import { PythonFinder, getPythonNames } from '../../../main/host/engines/python.ts';
import { EngineFolder } from '../../../main/host/engines/folder.ts';
import { mayRun } from '../../../main/host/engines/places.ts';
import { pythonRelease } from '../../../main/host/engines/python-release.ts';
import { getInstallCommand } from '../../../main/host/engines/remedy.ts';
import { getEngineSpecs } from '../../../main/host/engines/specs.ts';
import { registry } from '../../../main/host/services/registry.ts';
import type { Computer, EngineSpec } from '../../../services/contracts/control/engine-spec.ts';
import { getUsualFolders } from '../../../services/kit/platform/find-program.ts';
import { silentLog } from '../../support/database-location.ts';
import { getSha256, openReleaseServer, publishArchives, withServedSums } from '../../support/release-server.ts';
import { needs } from '../../support/requirements.ts';

needs('POSIX shell');

const specs = getEngineSpecs(registry);
const computers: readonly Computer[] = (['linux', 'darwin', 'win32'] as const).flatMap((platform) =>
  (['x64', 'arm64'] as const).map((arch) => ({ platform, arch })),
);
const cells = computers.flatMap((computer) =>
  specs.map((spec) => [spec.name, computer.platform, computer.arch, spec, computer] as const),
);

/** Cells without a source that needs nothing else, with the step that the page and the command line name. */
const steps: Readonly<Record<string, string>> = {
  'git linux': 'your system’s package manager',
  'git darwin': 'xcode-select --install',
};

/** Version line of each engine, as its program prints it. */
const versionLines: Readonly<Record<string, string>> = {
  'yt-dlp': '2026.10.26',
  ffmpeg: 'ffmpeg version 9.0.2 Copyright (c)',
  ffprobe: 'ffprobe version 9.0.2 Copyright (c)',
  deno: 'deno 2.9.7 (stable)',
  rclone: 'rclone v1.75.2',
  git: 'git version 2.56.0.windows.1',
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'engine-platforms-'));
  mkdirSync(join(folder, 'bin'));
  vi.stubEnv('PATH', `${join(folder, 'bin')}:/bin`);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

function addProgram(name: string, script: string): string {
  const path = join(folder, 'bin', name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

function open(computer: Computer, releases: string, engineSpecs: readonly EngineSpec[] = specs): HostEngines {
  const root = join(folder, 'engines');
  return openEngines({ folder: root, specs: engineSpecs, paths: () => ({}), log: silentLog, releases, computer });
}

/** Returns the program script for a file name: it prints the version of the engine. */
function getProgram(name: string): string {
  const engine = (name.split('/').at(-1) ?? '').replace(/\.exe$/, '');
  return `#!/bin/sh\necho "${versionLines[engine] ?? ''}"\n`;
}

/** Serves the release of an engine for a computer and returns the engine with the sums of the served files. */
async function publish(
  releases: Awaited<ReturnType<typeof openReleaseServer>>,
  spec: EngineSpec,
  { platform, arch }: Computer,
): Promise<EngineSpec> {
  for (const source of spec.sources) {
    if (source.from === 'archive') {
      const archives = Object.entries(source.files).find(([target]) => target === `${platform}-${arch}`)?.[1] ?? [];
      const location = spec.location?.[platform] ?? spec.name;
      await publishArchives(releases, archives, { location, getProgram });
    }
    if (source.from === 'release') {
      const asset = source.asset({ platform, arch, python: false });
      releases.files[asset] = getProgram(spec.name);
      releases.files[source.sums] = `${getSha256(getProgram(spec.name))}  ${asset}\n`;
    }
  }
  return withServedSums(spec, releases);
}

describe('every engine on every system', () => {
  it.each(cells)(
    'gives %s on %s (%s) a source that needs nothing else, or a step',
    async (name, platform, _a, spec, at) => {
      await using releases = await openReleaseServer();
      const root = specs.find((each) => each.name === spec.partOf) ?? spec;
      const served = await publish(releases, root, at);
      const engines = open(at, releases.url, [served, ...specs.filter((each) => each !== root)]);
      const step = steps[`${name} ${platform}`];
      if (step !== undefined) {
        expect((await engines.find(name)).remedy ?? step).toContain(step);
        expect(getInstallCommand(spec, at)?.command).toBe(platform === 'darwin' ? step : undefined);
        return;
      }
      if (spec.python?.importedOnly === true) {
        // It runs with the Python that the next test installs.
        const files = Object.keys(pythonRelease.sources[0].files);
        expect(files).toContain(`${platform}-${at.arch}`);
        expect(spec.sources.map(({ from }) => from)).toContain('python');
        return;
      }
      // Python would change which file of yt-dlp is used.
      if (platform !== 'win32') vi.spyOn(PythonFinder.prototype, 'locate').mockResolvedValue(undefined);
      const engine = await engines.install(name);
      expect(engine).toMatchObject({ name, source: 'data', remedy: null });
      expect(engine.path?.startsWith(join(folder, 'engines', root.name))).toBe(true);
      vi.restoreAllMocks();
    },
  );

  it('has no address without encryption, no rolling one and no sum that is not SHA-256', () => {
    const archives = [...specs, pythonRelease]
      .flatMap(({ sources }) => [...sources])
      .flatMap((source) => (source.from === 'archive' ? Object.values(source.files).flat() : []));
    expect(archives).toHaveLength(30);
    for (const { address, checksum } of archives) {
      expect(address).toMatch(/^https:\/\/\S+\.(zip|tar\.gz)$/);
      expect(address).not.toContain('latest');
      if ('list' in checksum) expect(new URL(checksum.list).host).toBe(new URL(address).host);
      else expect(checksum.sha256).toMatch(/^[0-9a-f]{64}$/);
    }
  });
});

describe('installation from an archive', () => {
  // A system without apt-get, which would install the package in place of a refused archive.
  const computer = { platform: 'darwin', arch: 'x64' } as const;
  const ffmpeg = (): EngineSpec => specs.find(({ name }) => name === 'ffmpeg') as EngineSpec;
  const others = (): readonly EngineSpec[] => specs.filter(({ name }) => name !== 'ffmpeg');

  it('installs both programs of ffmpeg, shows them and removes them together', async () => {
    await using releases = await openReleaseServer();
    const engines = open(computer, releases.url, [await publish(releases, ffmpeg(), computer), ...others()]);
    await engines.install('ffmpeg');
    const [main, part] = [await engines.state('ffmpeg'), await engines.state('ffprobe')];
    expect(main).toMatchObject({ version: '9.0.2', offered: '9.0.2', source: 'data', removable: true, byHand: null });
    expect(part).toMatchObject({ version: '9.0.2', source: 'data', removable: false });
    expect(readdirSync(dirname(main.path ?? '')).sort()).toEqual(['ffmpeg', 'ffprobe']);
    await engines.remove('ffmpeg');
    expect((await engines.find('ffprobe')).path).not.toBe(part.path);
  });

  it('refuses an archive whose sum differs, before it is unpacked', async () => {
    await using releases = await openReleaseServer();
    await publish(releases, ffmpeg(), computer);
    const engines = open(computer, releases.url);
    await expect(engines.install('ffmpeg')).rejects.toThrow('ffmpeg.zip doesn’t match its checksum');
    expect(readdirSync(join(folder, 'engines', 'ffmpeg'))).toEqual([]);
  });

  it('keeps the installed version when a new one does not run', async () => {
    await using releases = await openReleaseServer();
    const before = await open(computer, releases.url, [
      await publish(releases, ffmpeg(), computer),
      ...others(),
    ]).install('ffmpeg');
    versionLinesOf('ffprobe', 'no version');
    const spec = await publish(releases, ffmpeg(), computer);
    versionLinesOf('ffprobe', 'ffprobe version 9.0.2 Copyright (c)');
    await expect(open(computer, releases.url, [spec, ...others()]).install('ffmpeg')).rejects.toThrow(
      'ffprobe doesn’t run on this computer',
    );
    expect(await open(computer, releases.url).find('ffmpeg')).toMatchObject({ path: before.path, source: 'data' });
  });

  function versionLinesOf(name: string, line: string): void {
    (versionLines as Record<string, string>)[name] = line;
  }
});

describe('Apprise without a Python on the computer', () => {
  it.each([
    ['win32', 'x64'],
    ['win32', 'arm64'],
  ] as const)(
    'runs with a Python that Homeport installs and removes on %s (%s)',
    async (platform, arch) => {
      await using releases = await openReleaseServer();
      const [source] = pythonRelease.sources;
      const archives = Object.entries(source.files).find(([target]) => target === `${platform}-${arch}`)?.[1] ?? [];
      const script = '#!/bin/sh\nexec /usr/bin/python3 "$@"\n';
      await publishArchives(releases, archives, {
        location: pythonRelease.location[platform],
        getProgram: () => script,
      });
      const engines = open({ platform, arch }, releases.url);
      const engine = await engines.install('apprise');
      expect(engine).toMatchObject({ version: '2.2.0', source: 'data' });
      const library = await engines.library('apprise');
      expect(library?.python).toContain(join(folder, 'engines', 'python'));
      const program = 'import sys; sys.path.insert(0, sys.argv[1]); import apprise; print(apprise.__version__)';
      const { stdout } = await promisify(execFile)(library?.python ?? '', ['-I', '-c', program, library?.path ?? '']);
      expect(stdout.trim()).toBe('2.2.0');
      // The launcher is for people: Homeport starts the interpreter itself.
      expect(readFileSync(engine.path ?? '', 'latin1')).toContain(`@"${library?.python ?? ''}" -c "from apprise`);
      expect(await engines.state('python')).toMatchObject({ source: 'data' });
      await engines.remove('apprise');
      expect(existsSync(join(folder, 'engines', 'python'))).toBe(false);
    },
    120_000,
  );

  it('names the reasons when no Python can be installed', async () => {
    await using releases = await openReleaseServer();
    const engines = open({ platform: 'win32', arch: 'x64' }, releases.url);
    await expect(engines.install('apprise')).rejects.toThrow(
      /Python 3\.11 or later with pip wasn’t found\. 127\.0\.0\.1:\d+ responded with status 404\. This system doesn’t have apt-get\./,
    );
  });
});

describe('search for programs', () => {
  it('includes the folders of installers, which the PATH of a desktop app lacks', () => {
    const environment = { ProgramFiles: 'D:\\Programs', LOCALAPPDATA: 'C:\\Users\\Jane Doe\\AppData\\Local' };
    expect(getUsualFolders('win32', environment, 'C:\\Users\\Jane Doe')).toEqual([
      'D:\\Programs\\Git\\cmd',
      'C:\\Users\\Jane Doe\\AppData\\Local\\Programs\\Git\\cmd',
      'C:\\Users\\Jane Doe\\AppData\\Local\\Microsoft\\WinGet\\Links',
      'C:\\Users\\Jane Doe\\.deno\\bin',
      'C:\\Users\\Jane Doe\\.bun\\bin',
      'D:\\Programs\\nodejs',
    ]);
    expect(getUsualFolders('darwin', {}, '/Users/ada')).toEqual([
      '/Users/ada/.local/bin',
      '/Users/ada/.deno/bin',
      '/Users/ada/.bun/bin',
      '/opt/homebrew/bin',
      '/usr/local/bin',
      '/opt/local/bin',
      '/usr/bin',
    ]);
    expect(getUsualFolders('linux', {}, '/home/ada')).toEqual([
      '/home/ada/.local/bin',
      '/home/ada/.deno/bin',
      '/home/ada/.bun/bin',
      '/usr/local/bin',
      '/usr/bin',
      '/opt/homebrew/bin',
      '/snap/bin',
    ]);
  });

  it.each(['python.exe', 'py.exe'])('finds Python on Windows as %s', async (name) => {
    addProgram(name, 'exec /usr/bin/python3 "$@"');
    vi.stubEnv('PATH', `${join(folder, 'bin')};C:\\Windows`);
    const python = new PythonFinder('win32', new EngineFolder(folder, 'python', { platform: 'win32' }));
    expect(await python.locate({ pip: true })).toMatchObject({ source: 'system' });
    expect(getPythonNames('linux')).toContain('/usr/bin/python3');
  });
});

describe('programs of macOS that are only placeholders', () => {
  it('are not run before the developer tools are installed', async () => {
    addProgram('xcode-select', 'exit 2');
    expect(await mayRun('/usr/bin/git', 'darwin')).toBe(false);
    expect(await mayRun('/usr/bin/python3', 'darwin')).toBe(false);
    expect(await mayRun('/opt/homebrew/bin/git', 'darwin')).toBe(true);
    expect(await mayRun('/usr/bin/git', 'linux')).toBe(true);
    addProgram('xcode-select', 'echo /Library/Developer/CommandLineTools');
    expect(await mayRun('/usr/bin/git', 'darwin')).toBe(true);
  });

  it('are missing as engines, with the step that installs them', async () => {
    vi.stubEnv('PATH', join(folder, 'bin'));
    addProgram('xcode-select', 'exit 2');
    const engines = open({ platform: 'darwin', arch: 'arm64' }, 'http://127.0.0.1:1');
    const state = await engines.state('git');
    expect(state).toMatchObject({
      path: null,
      installable: false,
      byHand: { command: 'xcode-select --install', asRoot: false },
    });
    expect(state.remedy).toContain('Open Terminal, run “xcode-select --install”');
    addProgram('xcode-select', 'echo /Library/Developer/CommandLineTools');
    expect(await engines.find('git', { refresh: true })).toMatchObject({ path: '/usr/bin/git', source: 'system' });
  });

  it('are refused with a reason when the settings name them', async () => {
    addProgram('xcode-select', 'exit 2');
    const engines = openEngines({
      folder,
      specs,
      paths: () => ({ git: '/usr/bin/git' }),
      log: silentLog,
      computer: { platform: 'darwin', arch: 'x64' },
    });
    expect((await engines.find('git')).remedy).toContain(engineTexts.commandLineToolsMissing());
  });
});
