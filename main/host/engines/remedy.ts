import { existsSync } from 'node:fs';
import type { Computer, EngineSpec } from '../../../services/contracts/control/engine-spec.ts';
import type { Engine } from '../../../services/contracts/control/engines.ts';
import { getArchiveFiles } from './release-archive.ts';

type MissingEngine = Pick<Engine, 'problem' | 'mend'> & { readonly remedy: string };

/**
 * Returns the remedy for a missing engine. `isSet`: the settings define its path; `broken`: reasons why existing
 * candidates cannot be used.
 */
export function describeMissing(
  spec: EngineSpec,
  computer: Computer,
  { isSet, broken }: { readonly isSet: boolean; readonly broken: readonly string[] },
): MissingEngine {
  const { name, path } = spec;
  const page = '/settings/engines';
  if (isSet) {
    const reason = `${broken.join(' ')} Correct its path in the settings, or clear it.`;
    const to = path === undefined ? page : `${page}/${path.setting}`;
    return { remedy: reason, problem: reason, mend: { label: 'Correct its path', to, adminOnly: true } };
  }
  const post = { path: `/api/engines/${name}/install?wait=false`, body: {} };
  return {
    remedy: [...broken, getAdvice(spec, computer)].join(' '),
    ...(broken.length > 0 && { problem: broken.join(' ') }),
    ...(canInstall(spec, computer) && { mend: { label: `Install ${name}`, to: page, post, adminOnly: true } }),
  };
}

/** Returns whether an installation by Homeport can be tried on this computer. */
export function canInstall({ sources, python }: EngineSpec, computer: Computer): boolean {
  return sources.some((source) => {
    if (source.from === 'archive') return getArchiveFiles(source, computer) !== undefined;
    if (source.from === 'system') return computer.platform === 'linux';
    if (source.from === 'python') return computer.platform !== 'win32' || python?.importedOnly === true;
    return true;
  });
}

function getAdvice(spec: EngineSpec, computer: Computer): string {
  const { name, optional, path, sources } = spec;
  const install = `"homeport engines install ${name}"`;
  const set = path === undefined ? '' : `, or set ${path.variable}`;
  if (optional) return `Install it here or with ${install} if you need it${set}${set === '' ? '' : ' to a program'}.`;
  if (sources[0]?.from !== 'system' && canInstall(spec, computer)) {
    return `Run ${install}${set}${set === '' ? '' : ' to an executable'}.`;
  }
  const system = sources.find((source) => source.from === 'system');
  if (computer.platform === 'darwin' && system?.macos !== undefined) return `${system.macos.advice}${set}.`;
  const command = getInstallCommand(spec, computer.platform);
  const commandHint = command === undefined ? '' : ` ("${command}"${command.startsWith('apt-get') ? ', as root' : ''})`;
  return `Install ${name} with your system's package manager${commandHint}${set}.`;
}

/**
 * Returns the command that installs an engine from the system; undefined when the system has none.
 */
export function getInstallCommand(
  { sources }: Pick<EngineSpec, 'sources'>,
  platform: NodeJS.Platform,
): string | undefined {
  const system = sources.find((source) => source.from === 'system');
  if (system === undefined) return undefined;
  const names = system.packages.join(' ');
  if (platform === 'darwin') return system.macos?.command ?? `brew install ${names}`;
  if (platform === 'win32')
    return system.winget === undefined ? undefined : `winget install --id ${system.winget} --exact`;
  return existsSync('/usr/bin/apt-get') ? `apt-get install ${names}` : undefined;
}
