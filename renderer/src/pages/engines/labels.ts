import type { EngineState } from '../../../../services/contracts/control/engines.ts';

/** One plain sentence: what it does, or what its absence means. */
export function meaning({ path, purpose, absence }: Pick<EngineState, 'path' | 'purpose' | 'absence'>): string {
  return path === null ? absence : purpose;
}

/** Where it comes from. */
export const sources: Readonly<Record<EngineState['source'], string>> = {
  setting: 'From the settings',
  data: 'Installed by Homeport',
  system: 'From this computer',
  missing: 'Missing',
};

/** What an installation would do for it; empty when there is nothing that Homeport could do. */
export function offer({ path, installable, configured, version, offered }: EngineState): '' | 'Install' | 'Update' {
  if (!installable || configured) return '';
  if (path === null) return 'Install';
  return offered !== null && version !== offered ? 'Update' : '';
}

/** What of an engine is seen first: a service lacks it, there is a newer one, it works, or nothing needs it. */
export function standingOf(engine: EngineState): 'lacking' | 'outdated' | 'ready' | 'unused' {
  if (engine.path === null) return engine.optional ? 'unused' : 'lacking';
  return offer(engine) === 'Update' ? 'outdated' : 'ready';
}

const places: readonly ReturnType<typeof standingOf>[] = ['lacking', 'outdated', 'ready', 'unused'];

/** What needs somebody first. */
export function byStanding(list: readonly EngineState[]): readonly EngineState[] {
  return list.toSorted((a, b) => places.indexOf(standingOf(a)) - places.indexOf(standingOf(b)));
}
