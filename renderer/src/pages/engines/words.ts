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
