import * as m from '#messages/uptime-texts';
import { ignoredOptions } from '../domain/ignored-options.ts';
import type { RuntimeMonitor } from './monitor-state.ts';

/** Returns the problems of a monitor in addition to its status: a quarantine, and options without effect. */
export function getProblems({ config, quarantinedAt }: RuntimeMonitor): string[] {
  return [...(quarantinedAt === null ? [] : [m.quarantined()]), ...ignoredOptions(config)];
}
