import { isDeepStrictEqual } from 'node:util';
import type { Clock, Log, Service, ServiceDescriptor } from '../../../services/contracts/service.ts';
import { isLiveField, withLiveFields } from '../config/live-fields.ts';
import type { ServiceSettings } from '../config/settings.ts';
import { withTimeout } from '../runtime/with-timeout.ts';

const reconfigureLimitMs = 10_000;

/** Running service with the settings that it uses. */
export interface ConfiguredService {
  readonly descriptor: ServiceDescriptor;
  readonly service: Service;
  readonly applied: ServiceSettings;
}

/** Result of a change of live settings. */
export interface LiveChange {
  /** Settings that the service uses now. */
  readonly applied: ServiceSettings;
  /** False when a restart is needed for the remaining changes. */
  readonly isComplete: boolean;
}

/** Passes changed live settings to a running service. */
export async function applyLiveSettings(
  { descriptor, service, applied }: ConfiguredService,
  settings: ServiceSettings,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<LiveChange> {
  const unchanged = { applied, isComplete: false };
  if (service.reconfigure === undefined) return unchanged;
  const live = withLiveFields(descriptor, applied, settings);
  const isComplete = isLiveField(descriptor, applied, settings);
  if (!isComplete && isDeepStrictEqual(live.settings, applied.settings)) return unchanged;
  try {
    await withTimeout(service.reconfigure(live.settings), reconfigureLimitMs, clock);
    return { applied: live, isComplete };
  } catch (error) {
    log.warn('live settings failed, service restarts', { error });
    return unchanged;
  }
}
