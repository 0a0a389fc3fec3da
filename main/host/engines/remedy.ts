import * as m from '#messages/engine-texts';
import type { ServiceAction } from '../../../services/contracts/health.ts';
import { readText, type Text } from '../../../services/contracts/text.ts';
import type { Computer, EngineSpec } from '../../../services/contracts/control/engine-spec.ts';
import type { EngineState } from '../../../services/contracts/control/engines.ts';
import { buildInstallCommand } from './package-manager.ts';
import { getArchiveFiles } from './release-archive.ts';

/** Texts of a missing engine, which are evaluated for each reader. */
export interface MissingEngine {
  readonly remedy: Text;
  readonly problem?: Text;
  readonly mend?: ServiceAction;
}

/**
 * Returns the remedy for a missing engine. `isSet`: the settings define its path; `broken`: reasons why existing
 * candidates cannot be used.
 */
export function describeMissing(
  spec: EngineSpec,
  computer: Computer,
  { isSet, broken }: { readonly isSet: boolean; readonly broken: readonly Text[] },
): MissingEngine {
  const { name, path } = spec;
  const page = '/settings/engines';
  if (isSet) {
    const reason = (): string => m.correctPath({ reasons: joinTexts(broken) });
    const to = path === undefined ? page : `${page}/${path.setting}`;
    return { remedy: reason, problem: reason, mend: { label: m.correctPathStep, to, adminOnly: true } };
  }
  const post = { path: `/api/engines/${name}/install?wait=false`, body: {} };
  return {
    remedy: () => joinTexts([...broken, getAdvice(spec, computer)]),
    ...(broken.length > 0 && { problem: () => joinTexts(broken) }),
    ...(canInstall(spec, computer) && {
      mend: { label: () => m.install({ engine: name }), to: page, post, adminOnly: true },
    }),
  };
}

/** Joins sentences. */
function joinTexts(texts: readonly Text[]): string {
  return texts.map(readText).join(' ');
}

/** Returns whether an installation by Homeport can be tried on this computer. */
export function canInstall(spec: EngineSpec, computer: Computer): boolean {
  // Only this package manager is used without a person who confirms its changes.
  const canUsePackages = computer.packageManager === 'apt-get' && spec.sources.some(({ from }) => from === 'system');
  return canUsePackages || hasPublishedSource(spec, computer);
}

/** Returns whether the publisher of an engine offers it for this computer, so that no system package is needed. */
function hasPublishedSource({ sources, python }: EngineSpec, computer: Computer): boolean {
  return sources.some((source) => {
    if (source.from === 'archive') return getArchiveFiles(source, computer) !== undefined;
    if (source.from === 'system') return false;
    if (source.from === 'python') return computer.platform !== 'win32' || python?.importedOnly === true;
    return true;
  });
}

function getAdvice(spec: EngineSpec, computer: Computer): string {
  const { name, optional, path, sources } = spec;
  const command = `homeport engines install ${name}`;
  const variable = path?.variable;
  if (optional) {
    return variable === undefined ? m.adviceOptional({ command }) : m.adviceOptionalPath({ command, variable });
  }
  if (hasPublishedSource(spec, computer)) {
    return variable === undefined ? m.adviceInstall({ command }) : m.adviceInstallPath({ command, variable });
  }
  const system = sources.find((source) => source.from === 'system');
  if (computer.platform === 'darwin' && system?.macos !== undefined) return readText(system.macos.advice);
  return getSystemAdvice(spec, getInstallCommand(spec, computer));
}

function getSystemAdvice({ name: engine, path }: EngineSpec, byHand: ReturnType<typeof getInstallCommand>): string {
  const variable = path?.variable;
  if (byHand === undefined) {
    return variable === undefined ? m.adviceSystem({ engine }) : m.adviceSystemPath({ engine, variable });
  }
  const { command, asRoot } = byHand;
  if (asRoot) {
    return variable === undefined
      ? m.adviceRootCommand({ engine, command })
      : m.adviceRootCommandPath({ engine, command, variable });
  }
  return variable === undefined
    ? m.adviceCommand({ engine, command })
    : m.adviceCommandPath({ engine, command, variable });
}

/**
 * Returns the command that installs an engine from the system; undefined when the system has none, or its package
 * manager is not known.
 */
export function getInstallCommand(
  { sources }: Pick<EngineSpec, 'sources'>,
  { platform, packageManager }: Computer,
): NonNullable<EngineState['byHand']> | undefined {
  const system = sources.find((source) => source.from === 'system');
  if (system === undefined) return undefined;
  const { packages, names, winget, macos } = system;
  if (platform === 'darwin') return asUser(macos?.command ?? `brew install ${packages.join(' ')}`);
  if (platform === 'win32') return winget === undefined ? undefined : asUser(`winget install --id ${winget} --exact`);
  if (packageManager === undefined) return undefined;
  return { command: buildInstallCommand(packageManager, names?.[packageManager] ?? packages), asRoot: true };
}

function asUser(command: string): NonNullable<EngineState['byHand']> {
  return { command, asRoot: false };
}
