import { ignoredOptions } from '../domain/ignored-options.ts';
import type { RuntimeMonitor } from './monitor-state.ts';

/** Returns the problems of a monitor in addition to its status: a quarantine, and options without effect. */
export function getProblems({ config, quarantinedAt }: RuntimeMonitor): string[] {
  const pausedMessage =
    'It was paused because Homeport stopped working while it was being checked. Change or resume it; ' +
    'when that happens again it is paused again.';
  return [...(quarantinedAt === null ? [] : [pausedMessage]), ...ignoredOptions(config)];
}
