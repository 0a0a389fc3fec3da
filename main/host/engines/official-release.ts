import { createHash } from 'node:crypto';
import { chmod, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { currentPlatform } from '../../../services/kit/platform/current-platform.ts';
import { executableName } from '../../../services/kit/platform/executables.ts';
import { removeTree, replaceFile } from '../../../services/kit/platform/file-replacement.ts';
import type { EngineSource, EngineSpec } from '../../../services/contracts/control/engine-spec.ts';
import type { Log } from '../../../services/contracts/service.ts';
import { archiveName, isArchive } from './library.ts';
import { findPython } from './python.ts';
import { SourceUnavailable, type InstallOptions, type Strategy } from './strategy.ts';
import { askVersion } from './version.ts';
import { addExtras, buildLauncher, getPackages } from './wheels.ts';

/** Short, since the internet may be unavailable. */
const answerWithinMs = 5000;
const downloadWithinMs = 10 * 60_000;
const maxDownloadBytes = 200 * 1024 * 1024;

type Release = Extract<EngineSource, { readonly from: 'release' }>;

/** Installs the release file of the project, checked against its list of sums. */
export function officialRelease(source: Release, releases = source.releases): Strategy {
  return {
    title: 'the official release',
    async install({ spec, folder, log, report }) {
      report('Asking for the official release');
      const address = `${releases}/download/${source.version}`;
      const sums = await (await request(`${address}/${source.sums}`)).text();
      const { arch } = process;
      const asset = source.asset({ platform: currentPlatform, arch, python: (await findPython()) !== undefined });
      const expected = sums
        .split('\n')
        .map((line) => line.trim().split(/\s+\*?/))
        .find(([, file]) => file === asset)?.[0];
      if (expected === undefined) throw new SourceUnavailable(`the release has no checksum for ${asset}`);

      const staged = await folder.stage();
      try {
        const path = join(staged, executableName(spec.name));
        const release = await request(`${address}/${asset}`);
        const actual = await save(release, path, (percent) => report('Downloading the official release', percent));
        if (actual !== expected.toLowerCase()) throw new SourceUnavailable(`${asset} does not match its checksum`);
        await chmod(path, 0o755);
        report('Trying it');
        const answer = await askVersion(spec, path);
        if ('reason' in answer) throw new SourceUnavailable(`${asset} does not run here: ${answer.reason}`);
        await withExtras(spec, staged, log, report);
        await folder.publish(staged, answer.version);
        log.info('engine installed from the official release', { asset, version: answer.version });
      } finally {
        await removeTree(staged);
      }
    },
  };
}

/** Adds packages that an archive lacks compared with a standalone program, when pip is available. */
async function withExtras(spec: EngineSpec, staged: string, log: Log, report: InstallOptions['report']): Promise<void> {
  const { name } = spec;
  const { extras, options = '' } = spec.python ?? {};
  const path = join(staged, executableName(name));
  if (extras === undefined || !(await isArchive(path))) return;
  const python = await findPython({ pip: true });
  if (python === undefined)
    return log.info('engine installed without extras', {
      engine: name,
      extras: extras.title,
      reason: 'pip is missing',
    });
  report(extras.step);
  if (!(await addExtras(spec, python, staged, log))) return;
  const archive = archiveName(name);
  await replaceFile(path, join(staged, archive));
  await writeFile(path, buildLauncher(python, `"$here/${archive}" ${options}`), { mode: 0o755 });
  const answer = await askVersion(spec, path);
  if ('version' in answer) return;
  log.warn('engine failed with extras, extras removed', { engine: name, extras: extras.title, reason: answer.reason });
  await removeTree(getPackages(staged));
  await replaceFile(join(staged, archive), path);
}

/** Short timeout for the headers, long one for the body. */
async function request(url: string): Promise<Response> {
  const abort = new AbortController();
  const unanswered = setTimeout(() => abort.abort(), answerWithinMs);
  try {
    const response = await fetch(url, {
      signal: AbortSignal.any([abort.signal, AbortSignal.timeout(downloadWithinMs)]),
    });
    if (!response.ok) throw new SourceUnavailable(`${new URL(url).host} answered ${response.status}`);
    return response;
  } catch (error) {
    if (error instanceof SourceUnavailable) throw error;
    throw new SourceUnavailable(`${new URL(url).host} cannot be reached`, { cause: error });
  } finally {
    clearTimeout(unanswered);
  }
}

/**
 * Writes the body to a new file and returns its SHA-256 in hex. Reports each whole per cent once when the length is
 * known.
 */
async function save(response: Response, path: string, reportPercent: (percent: number) => void): Promise<string> {
  const length = Number(response.headers.get('content-length') ?? 0);
  let reportedPercent = -1;
  const hash = createHash('sha256');
  const file = await open(path, 'wx', 0o700);
  try {
    let size = 0;
    for await (const chunk of response.body ?? []) {
      size += chunk.byteLength;
      if (size > maxDownloadBytes) throw new SourceUnavailable('the release file is larger than any release ever was');
      const percent = length > 0 ? Math.min(100, Math.floor((100 * size) / length)) : reportedPercent;
      if (percent > reportedPercent) {
        reportedPercent = percent;
        reportPercent(percent);
      }
      hash.update(chunk);
      await file.write(chunk);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return hash.digest('hex');
}
