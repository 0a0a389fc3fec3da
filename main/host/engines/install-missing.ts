import type { Log } from '../../../services/contracts/service.ts';
import type { HostEngines } from './engines.ts';

/**
 * After the start, so that a slow or absent network does not hold it up; the Home page shows how far it is meanwhile. Side by
 * side, so that none is said to be missing that only waits for another.
 */
export async function installMissing(engines: HostEngines, log: Log): Promise<void> {
  await Promise.all(
    engines.needed.map(async (name) => {
      try {
        if ((await engines.find(name)).path === null) await engines.install(name);
      } catch (error) {
        log.warn('engine could not be installed', { engine: name, error });
      }
    }),
  );
}
