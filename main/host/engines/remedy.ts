import { existsSync } from 'node:fs';
import type { EngineSpec } from '../../../services/contracts/control/engine-spec.ts';

/** What to do about a missing engine, in one sentence after the reasons. `isSet`: the settings say where it is. */
export function remedy(spec: EngineSpec, isSet: boolean, broken: readonly string[]): string {
  if (isSet) return `${broken.join(' ')} Correct its path in the settings, or clear it.`;
  return [...broken, advice(spec)].join(' ');
}

function advice({ name, optional, path, sources }: EngineSpec): string {
  const install = `"homeport engines install ${name}"`;
  const set = path === undefined ? '' : `, or set ${path.variable}`;
  if (optional) return `Install it here or with ${install} if you need it${set}${set === '' ? '' : ' to a program'}.`;
  const [first] = sources;
  if (first?.from === 'system') {
    return `Install ${name} with your system's package manager${packageCommand(first.packages)}${set}.`;
  }
  return `Run ${install}${set}${set === '' ? '' : ' to an executable'}.`;
}

/** As it is typed here; a command that is not there helps nobody. */
function packageCommand(packages: readonly string[]): string {
  const names = packages.join(' ');
  if (process.platform === 'darwin') return ` ("brew install ${names}")`;
  return existsSync('/usr/bin/apt-get') ? ` ("apt-get install ${names}", as root)` : '';
}
