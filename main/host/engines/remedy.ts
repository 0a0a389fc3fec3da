import { existsSync } from 'node:fs';
import { currentPlatform } from '../../../services/kit/platform/current-platform.ts';
import type { EngineSpec } from '../../../services/contracts/control/engine-spec.ts';
import type { Engine } from '../../../services/contracts/control/engines.ts';

type MissingEngine = Pick<Engine, 'problem' | 'mend'> & { readonly remedy: string };

/**
 * Returns the remedy for a missing engine. `isSet`: the settings define its path; `broken`: reasons why existing
 * candidates cannot be used.
 */
export function describeMissing(spec: EngineSpec, isSet: boolean, broken: readonly string[]): MissingEngine {
  const { name, path, sources } = spec;
  const page = '/settings/engines';
  if (isSet) {
    const reason = `${broken.join(' ')} Correct its path in the settings, or clear it.`;
    const to = path === undefined ? page : `${page}/${path.setting}`;
    return { remedy: reason, problem: reason, mend: { label: 'Correct its path', to, adminOnly: true } };
  }
  const post = { path: `/api/engines/${name}/install?wait=false`, body: {} };
  return {
    remedy: [...broken, advice(spec)].join(' '),
    ...(broken.length > 0 && { problem: broken.join(' ') }),
    ...(sources.length > 0 && { mend: { label: `Install ${name}`, to: page, post, adminOnly: true } }),
  };
}

function advice(spec: EngineSpec): string {
  const { name, optional, path, sources } = spec;
  const install = `"homeport engines install ${name}"`;
  const set = path === undefined ? '' : `, or set ${path.variable}`;
  if (optional) return `Install it here or with ${install} if you need it${set}${set === '' ? '' : ' to a program'}.`;
  if (sources[0]?.from === 'system') {
    const command = getInstallCommand(spec);
    const commandHint =
      command === undefined ? '' : ` ("${command}"${command.startsWith('apt-get') ? ', as root' : ''})`;
    return `Install ${name} with your system's package manager${commandHint}${set}.`;
  }
  return `Run ${install}${set}${set === '' ? '' : ' to an executable'}.`;
}

/**
 * Returns the command that installs an engine from the system only; undefined when the package manager does not
 * exist.
 */
export function getInstallCommand(
  { sources: [first] }: Pick<EngineSpec, 'sources'>,
  platform: NodeJS.Platform = currentPlatform,
): string | undefined {
  if (first?.from !== 'system') return undefined;
  const names = first.packages.join(' ');
  if (platform === 'darwin') return `brew install ${names}`;
  if (platform === 'win32')
    return first.winget === undefined ? undefined : `winget install --id ${first.winget} --exact`;
  return existsSync('/usr/bin/apt-get') ? `apt-get install ${names}` : undefined;
}
