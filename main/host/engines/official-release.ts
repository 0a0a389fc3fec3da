import { createHash } from 'node:crypto';
import { chmod, open, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EngineSource, EngineSpec } from '../../../services/contracts/control/engine-spec.ts';
import type { Log } from '../../../services/contracts/service.ts';
import { executableName } from './folder.ts';
import { archiveName, isArchive } from './library.ts';
import { findPython } from './python.ts';
import { PassedOver, type InstallOrder, type Strategy } from './strategy.ts';
import { askVersion } from './version.ts';
import { addExtras, launcherText, packagesIn } from './wheels.ts';

/** The internet may be absent, and then nobody should wait for it. */
const answerWithinMs = 5000;
const downloadWithinMs = 10 * 60_000;
const largestBytes = 200 * 1024 * 1024;

type Release = Extract<EngineSource, { readonly from: 'release' }>;

/** The project's own release file, checked against the sums that lie beside it. */
export function officialRelease(source: Release, releases = source.releases): Strategy {
  return {
    title: 'the official release',
    async install({ spec, folder, log, report }) {
      report('Asking for the official release');
      const address = `${releases}/download/${source.version}`;
      const sums = await (await request(`${address}/${source.sums}`)).text();
      const { platform, arch } = process;
      const asset = source.asset({ platform, arch, python: (await findPython()) !== undefined });
      const expected = sums
        .split('\n')
        .map((line) => line.trim().split(/\s+\*?/))
        .find(([, file]) => file === asset)?.[0];
      if (expected === undefined) throw new PassedOver(`the release has no checksum for ${asset}`);

      const staged = await folder.stage();
      try {
        const path = join(staged, executableName(spec.name));
        const release = await request(`${address}/${asset}`);
        const actual = await save(release, path, (percent) => report('Downloading the official release', percent));
        if (actual !== expected.toLowerCase()) throw new PassedOver(`${asset} does not match its checksum`);
        await chmod(path, 0o755);
        report('Trying it');
        const answer = await askVersion(spec, path);
        if ('reason' in answer) throw new PassedOver(`${asset} does not run here: ${answer.reason}`);
        await withExtras(spec, staged, log, report);
        await folder.publish(staged, answer.version);
        log.info('engine installed from the official release', { asset, version: answer.version });
      } finally {
        await rm(staged, { recursive: true, force: true });
      }
    },
  };
}

/** Adds what an archive that Python runs lacks of a standalone program, where there is a pip. */
async function withExtras(spec: EngineSpec, staged: string, log: Log, report: InstallOrder['report']): Promise<void> {
  const { name } = spec;
  const { extras, options = '' } = spec.python ?? {};
  const path = join(staged, executableName(name));
  if (extras === undefined || !(await isArchive(path))) return;
  const python = await findPython({ pip: true });
  if (python === undefined) return log.info(`${name} is installed without ${extras.title}: there is no pip`);
  report(extras.step);
  if (!(await addExtras(spec, python, staged, log))) return;
  const archive = archiveName(name);
  await rename(path, join(staged, archive));
  await writeFile(path, launcherText(python, `"$here/${archive}" ${options}`), { mode: 0o755 });
  const answer = await askVersion(spec, path);
  if ('version' in answer) return;
  log.warn(`${name} does not run with ${extras.title}; it is left out`, { reason: answer.reason });
  await rm(packagesIn(staged), { recursive: true });
  await rename(join(staged, archive), path);
}

/** Waits a short time for the answer's head and a long one for its body. */
async function request(url: string): Promise<Response> {
  const abort = new AbortController();
  const unanswered = setTimeout(() => abort.abort(), answerWithinMs);
  try {
    const response = await fetch(url, {
      signal: AbortSignal.any([abort.signal, AbortSignal.timeout(downloadWithinMs)]),
    });
    if (!response.ok) throw new PassedOver(`${new URL(url).host} answered ${response.status}`);
    return response;
  } catch (error) {
    if (error instanceof PassedOver) throw error;
    throw new PassedOver(`${new URL(url).host} cannot be reached`, { cause: error });
  } finally {
    clearTimeout(unanswered);
  }
}

/** Writes the body to a new file and returns its SHA-256, hex. Tells each whole per cent once, where the length is known. */
async function save(response: Response, path: string, tell: (percent: number) => void): Promise<string> {
  const length = Number(response.headers.get('content-length') ?? 0);
  let told = -1;
  const hash = createHash('sha256');
  const file = await open(path, 'wx', 0o700);
  try {
    let size = 0;
    for await (const chunk of response.body ?? []) {
      size += chunk.byteLength;
      if (size > largestBytes) throw new PassedOver('the release file is larger than any release ever was');
      const percent = length > 0 ? Math.min(100, Math.floor((100 * size) / length)) : told;
      if (percent > told) {
        told = percent;
        tell(percent);
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
