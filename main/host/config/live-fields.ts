import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { ServiceManifest } from '../../../services/contracts/service.ts';
import { portsIn, type ServiceSettings } from './settings.ts';

/** Returns whether all differences are in fields that take effect immediately: `.meta({ live: true })`. */
export function isLiveField(
  { settings: { shape } }: Pick<ServiceManifest, 'settings'>,
  before: ServiceSettings,
  after: ServiceSettings,
): boolean {
  if (before.enabled !== after.enabled || !isDeepStrictEqual(portsIn(before), portsIn(after))) return false;
  const [old, next] = [Object(before.settings), Object(after.settings)] as Record<string, unknown>[];
  return Object.keys({ ...old, ...next }).every(
    (name) => isDeepStrictEqual(old?.[name], next?.[name]) || isLive(shape[name]),
  );
}

/**
 * Returns the settings before a change with its live fields applied, for a service that restarts later for the
 * others.
 */
export function withLiveFields(
  { settings: { shape } }: Pick<ServiceManifest, 'settings'>,
  before: ServiceSettings,
  after: ServiceSettings,
): ServiceSettings {
  const next = Object(after.settings) as Record<string, unknown>;
  const live = Object.entries(next).filter(([name]) => isLive(shape[name]));
  return { ...before, settings: { ...before.settings, ...Object.fromEntries(live) } };
}

/** Reads the schema of a field as its service declares it. */
function isLive(field: unknown): boolean {
  return field instanceof z.ZodType && field.meta()?.['live'] === true;
}
