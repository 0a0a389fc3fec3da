import type { Log } from '../../../services/contracts/service.ts';
import type { HostEngines } from './engines.ts';

/** After the start, so that a slow or absent network does not hold it up; the Home page shows what is missing meanwhile. */
export async function installMissing(engines: HostEngines, log: Log): Promise<void> {
  for (const name of await engines.missing()) {
    try {
      await engines.install(name);
    } catch (error) {
      log.warn('engine could not be installed', { engine: name, error });
    }
  }
}
