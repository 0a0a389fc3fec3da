import { ignoredOptions } from '../domain/ignored-options.ts';
import type { Watched } from './monitor-state.ts';

/** Returns the problems of a monitor besides its status: a quarantine, and options without effect. */
export function problemsOf({ config, quarantinedAt }: Watched): string[] {
  const paused =
    'It was paused because Homeport stopped working while it was being checked. Change or resume it; when that happens again it is paused again.';
  return [...(quarantinedAt === null ? [] : [paused]), ...ignoredOptions(config)];
}
