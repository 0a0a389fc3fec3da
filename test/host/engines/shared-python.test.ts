import * as engineTexts from '#messages/engine-texts';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openEngines, type HostEngines } from '../../../main/host/engines/engines.ts';
import { PythonFinder } from '../../../main/host/engines/python.ts';
import { pythonRelease } from '../../../main/host/engines/python-release.ts';
import type { Computer, EngineSpec } from '../../../services/contracts/control/engine-spec.ts';
import type { EngineWork } from '../../../services/contracts/control/engines.ts';
import { silentLog } from '../../support/database-location.ts';
import { openReleaseServer, publishArchives, type ReleaseServer } from '../../support/release-server.ts';
import { needs } from '../../support/requirements.ts';
import { readTexts } from '../../../services/contracts/text.ts';

needs('POSIX shell');

const computer: Computer = { platform: 'win32', arch: 'x64' };

let folder: string;
let releases: ReleaseServer;
let works: [string, EngineWork | null][];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'shared-python-'));
  mkdirSync(join(folder, 'bin'));
  vi.stubEnv('PATH', `${join(folder, 'bin')}:/bin`);
  releases = await openReleaseServer();
  works = [];
});
afterEach(async () => {
  await releases[Symbol.asyncDispose]();
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

/** Creates an engine that is a Python library. */
function createLibrary(name: string): EngineSpec {
  return {
    name,
    title: name,
    purpose: '',
    absence: '',
    removal: '',
    version: { arguments: ['--version'], pattern: /^lib (\S+)$/ },
    location: { win32: `${name}.cmd` },
    python: {
      module: name,
      version: '1.0',
      packages: [{ name, version: '1.0', sha256: ['0'.repeat(64)] }],
      run: `-m ${name}`,
      without: '',
      importedOnly: true,
    },
    sources: [{ from: 'python' }],
  };
}

function open(onWork?: (name: string, work: EngineWork | null) => void): HostEngines {
  return openEngines({
    folder: join(folder, 'engines'),
    specs: [createLibrary('one'), createLibrary('two')],
    paths: () => ({}),
    log: silentLog,
    releases: releases.url,
    computer,
    onWork(name, work) {
      const read = readTexts(work);
      works.push([name, read]);
      onWork?.(name, read);
    },
  });
}

/** Publishes a stand-in of Python that answers as its version, as pip and as the libraries. */
async function publishPython(): Promise<void> {
  const [source] = pythonRelease.sources;
  const script = `#!/bin/sh
case "$*" in
  --version) echo 'Python 3.13.16' ;;
  *sys.executable*) echo "$0" ;;
  *pip*) exit 0 ;;
  *) echo 'lib 1.0' ;;
esac
`;
  await publishArchives(releases, source.files['win32-x64'] ?? [], {
    location: pythonRelease.location.win32,
    getProgram: () => script,
  });
}

const countPythonDownloads = (): number => releases.requested.filter((name) => name.startsWith('cpython')).length;

describe('Python of concurrent installations', () => {
  it('is installed once, and reported to each engine', async () => {
    await publishPython();
    const engines = open();
    const installed = await Promise.all([engines.install('one'), engines.install('two')]);
    expect(installed.map(({ version }) => version)).toEqual(['1.0', '1.0']);
    expect(countPythonDownloads()).toBe(1);
    for (const name of ['one', 'two', 'python']) {
      const steps = works.filter(([engine]) => engine === name).map(([, work]) => work?.step);
      expect(steps).toContain(engineTexts.stepInstallPython());
      expect(steps.at(-1)).toBeUndefined();
    }
  });

  it('is not installed again by an engine that searched for it before it was there', async () => {
    await publishPython();
    const firstSearchOfTwo = Promise.withResolvers<void>();
    let searches = 0;
    vi.spyOn(PythonFinder.prototype, 'find').mockImplementation(async function (this: PythonFinder, options) {
      searches += 1;
      const isSearchOfTwo = searches === 2;
      const python = await this.locate(options);
      // The second engine learns late that there is no Python.
      if (isSearchOfTwo) await firstSearchOfTwo.promise;
      return python?.path;
    });
    const engines = open();
    const one = engines.install('one');
    const two = engines.install('two');
    await one;
    firstSearchOfTwo.resolve();
    await two;
    expect(countPythonDownloads()).toBe(1);
  });

  it('is tried again by a later installation after a failure, which names the reason for each engine', async () => {
    const engines = open();
    const results = await Promise.allSettled([engines.install('one'), engines.install('two')]);
    for (const result of results) {
      expect(String((result as PromiseRejectedResult).reason)).toMatch(
        /Python 3\.11 or later with pip wasn’t found\. .* 404/,
      );
    }
    await publishPython();
    expect(await engines.install('one')).toMatchObject({ version: '1.0' });
  });

  it('is kept when an engine is removed while another one is being installed with it', async () => {
    await publishPython();
    const removed = Promise.withResolvers<void>();
    const engines = open((name, work) => {
      if (name === 'two' && work?.step === engineTexts.stepDownloadPackage()) {
        engines.remove('one').then(removed.resolve, removed.reject);
      }
    });
    await engines.install('one');
    const two = engines.install('two');
    await removed.promise;
    expect(existsSync(join(folder, 'engines', 'python', 'current'))).toBe(true);
    expect(await two).toMatchObject({ version: '1.0' });
    await engines.remove('two');
    expect(existsSync(join(folder, 'engines', 'python'))).toBe(false);
  });
});

describe('row of Python', () => {
  it('follows an installation and a removal', async () => {
    await publishPython();
    const during: Promise<unknown>[] = [];
    const engines = open((name, work) => {
      if (name === 'python' && work !== null) during.push(engines.state('python'));
    });
    expect(await engines.state('python')).toMatchObject({ path: null, source: 'missing', work: null });
    await engines.install('one');
    expect((await Promise.all(during))[0]).toMatchObject({ work: { step: engineTexts.stepInstallPython() } });
    const state = await engines.state('python');
    expect(state).toMatchObject({ source: 'data', version: '3.13.16', work: null, remedy: null });
    await engines.remove('one');
    expect(await engines.state('python')).toMatchObject({ path: null, version: null, source: 'missing' });
  });

  it('follows an installation by another process', async () => {
    await publishPython();
    const engines = open();
    expect((await engines.state('python')).source).toBe('missing');
    await open().install('one');
    expect((await engines.state('python')).source).toBe('data');
  });

  it('shows the size of the whole folder when Homeport installed it', async () => {
    await publishPython();
    const engines = open();
    const { path } = await engines.install('one').then(() => engines.state('python'));
    writeFileSync(join(path ?? '', '..', 'library'), Buffer.alloc(100_000));
    expect((await engines.state('python', { refresh: true })).bytes).toBeGreaterThan(100_000);
  });

  it('follows a Python that was installed into the system', async () => {
    // The system's package manager is the second method; its stand-in adds a program instead of a package.
    vi.spyOn(process, 'getuid').mockReturnValue(0);
    const python = join(folder, 'bin', 'python3.14');
    const answers = `case "$*" in --version) echo 'Python 3.14.1' ;; *sys.executable*) echo "${python}" ;; *) echo 'lib 1.0' ;; esac`;
    write('new-python', `#!/bin/sh\n${answers}\n`);
    write('apt-get', `#!/bin/sh\n/bin/cp '${join(folder, 'bin', 'new-python')}' '${python}'\n`);
    const engines = openEngines({
      folder: join(folder, 'engines'),
      specs: [{ ...createLibrary('one'), location: {} }],
      paths: () => ({}),
      log: silentLog,
      releases: releases.url,
      computer: { platform: 'linux', arch: 'x64', packageManager: 'apt-get' },
    });
    vi.spyOn(PythonFinder.prototype, 'locate').mockImplementation(async () =>
      existsSync(python) ? { path: python, source: 'system' } : undefined,
    );
    expect((await engines.state('python')).source).toBe('missing');
    await engines.install('one');
    expect(await engines.state('python')).toMatchObject({ source: 'system', path: python, version: '3.14.1' });
  });

  function write(name: string, script: string): void {
    writeFileSync(join(folder, 'bin', name), script);
    chmodSync(join(folder, 'bin', name), 0o755);
  }
});
