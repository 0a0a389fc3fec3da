import { serviceStatusChanged } from '../../../services/contracts/control/service-status.ts';
import { engineProgressChanged } from '../../../services/contracts/control/engine-progress.ts';
import type { Bus } from '../../../services/contracts/bus.ts';
import type { Clock, Log } from '../../../services/contracts/service.ts';
import type { HostEngines } from '../engines/engines.ts';
import type { ServiceRunner } from './service-runner.ts';

/** Minimum interval in ms, since a download reports every per cent. */
const pauseMs = 500;

/** Checks the health of services while their engines are being installed, so that Home shows the progress. */
export function watchEngineInstallations(
  { bus, clock, log }: { readonly bus: Bus; readonly clock: Clock; readonly log: Log },
  runners: readonly ServiceRunner[],
): Disposable {
  const open = new DisposableStack();
  const due = new Set<string>();
  let pollTimer: Disposable | undefined;
  const checkHealth = (): void => {
    pollTimer = undefined;
    for (const runner of runners) {
      if (!runner.descriptor.engines?.some(({ name }) => due.has(name))) continue;
      runner.refresh().catch((error: unknown) => log.error('health check failed', { error }));
    }
    due.clear();
  };
  open.use(
    bus.subscribe(engineProgressChanged, ({ name }) => {
      due.add(name);
      pollTimer ??= clock.after(pauseMs, checkHealth);
    }),
  );
  open.defer(() => pollTimer?.[Symbol.dispose]());
  return open;
}

/** Parts that {@link installEnginesOfServices} uses. */
export interface EngineInstallation {
  readonly bus: Bus;
  readonly engines: Pick<HostEngines, 'installMissing'>;
  readonly log: Log;
  /** Returns whether the settings permit installations. */
  readonly isAllowed: () => boolean;
}

/**
 * Installs missing engines of the enabled services, and those of a service that is enabled later. Engines of disabled
 * services are not downloaded.
 */
export function installEnginesOfServices(
  { bus, engines, log, isAllowed }: EngineInstallation,
  runners: readonly Pick<ServiceRunner, 'descriptor' | 'state'>[],
): Disposable {
  const install = (services: readonly Pick<ServiceRunner, 'descriptor'>[]): void => {
    const specs = isAllowed() ? services.flatMap(({ descriptor }) => descriptor.engines ?? []) : [];
    const names = specs.map(({ name, partOf }) => partOf ?? name);
    engines.installMissing(names).catch((error: unknown) => log.error('engine installation failed', { error }));
  };
  const enabled = runners.filter(({ state }) => state.state !== 'off');
  const enabledIds = new Set(enabled.map(({ descriptor }) => descriptor.id));
  install(enabled);
  return bus.subscribe(serviceStatusChanged, ({ id, state }) => {
    if (state === 'off') enabledIds.delete(id);
    if (state === 'off' || enabledIds.has(id)) return;
    enabledIds.add(id);
    install(runners.filter(({ descriptor }) => descriptor.id === id));
  });
}
