import * as m from '#messages/engines';
import { isOlderVersion } from '../../../../services/contracts/control/engine-version.ts';
import type { EngineState } from '../../../../services/contracts/control/engines.ts';

/** Describes the purpose of an engine, or the effect of its absence. */
export function getDescription({ path, purpose, absence }: Pick<EngineState, 'path' | 'purpose' | 'absence'>): string {
  return path === null ? absence : purpose;
}

/** Labels of the source of an engine. */
export const sourceLabels: Readonly<Record<EngineState['source'], () => string>> = {
  setting: m.fromTheSettings,
  data: m.installedByHomeport,
  system: m.fromThisComputer,
  missing: m.missing,
};

/** Returns whether no newer version is offered; undefined when that is not known. */
export function isNewest({ version, offered }: Pick<EngineState, 'version' | 'offered'>): boolean | undefined {
  return version === null || offered === null ? undefined : !isOlderVersion(version, offered);
}

/** Returns the installation that Homeport can do; empty for none. */
export function getOffer({ path, installable, configured, version, offered }: EngineState): '' | 'install' | 'update' {
  if (!installable || configured) return '';
  if (path === null) return 'install';
  return isNewest({ version, offered }) === false ? 'update' : '';
}

/** Returns the status of an engine: missing but required, outdated, ready, or not needed. */
export function getEngineStatus(engine: EngineState): 'lacking' | 'outdated' | 'ready' | 'unused' {
  if (engine.path === null) return engine.optional ? 'unused' : 'lacking';
  return getOffer(engine) === 'update' ? 'outdated' : 'ready';
}

const statusOrder: readonly ReturnType<typeof getEngineStatus>[] = ['lacking', 'outdated', 'ready', 'unused'];

/** Sorts engines by status; those that need attention come first. */
export function sortByStatus(list: readonly EngineState[]): readonly EngineState[] {
  return list.toSorted((a, b) => statusOrder.indexOf(getEngineStatus(a)) - statusOrder.indexOf(getEngineStatus(b)));
}
