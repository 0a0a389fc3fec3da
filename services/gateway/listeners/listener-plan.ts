import type { DispatchTarget } from '../../contracts/dispatch.ts';
import type { Settings } from '../settings.ts';
import type { NetworkListener } from './listener-manager.ts';

/**
 * Returns the listeners to open at each address.
 * @param shared Shared services of Homeport
 */
export function planListeners(
  addresses: readonly string[],
  { httpsPort, httpPort, ownPorts }: Pick<Settings, 'httpPort' | 'httpsPort' | 'ownPorts'>,
  shared: readonly Pick<DispatchTarget, 'id' | 'port'>[],
): NetworkListener[] {
  const servicePorts = shared.flatMap(({ id: service, port }) =>
    !ownPorts || port === undefined || port === httpsPort ? [] : [{ service, port }],
  );
  return addresses.flatMap((address): NetworkListener[] => [
    { kind: 'https', address, port: httpsPort },
    { kind: 'http', address, port: httpPort },
    ...servicePorts.map(({ service, port }): NetworkListener => ({ kind: 'service', address, port, service })),
  ]);
}
