import { openEngines, type HostEngines } from '../../main/host/engines/engines.ts';
import { getEngineSpecs } from '../../main/host/engines/specs.ts';
import { registry } from '../../main/host/services/registry.ts';
import { enginesFolder } from './host.ts';
import { silentLog } from './database-location.ts';

/** Returns the engines that `npm run test:clients` installed for all tests. */
export function sharedEngines(): HostEngines {
  return openEngines({ folder: enginesFolder, specs: getEngineSpecs(registry), paths: () => ({}), log: silentLog });
}
